#!/bin/bash
# Print the lines of Python of every room (folder or single file) of a package, and its longest file.
#
# Usage: tools/lines.sh PACKAGE
set -euo pipefail

cd "${1:?usage: $0 PACKAGE}"
find . -name '*.py' -exec wc -l {} + | awk '
    $2 == "total" { next }
    {
        split($2, part, "/")
        room = part[2]
        lines[room] += $1
        files[room]++
        sum += $1
        count++
        if ($1 >= longest[room]) { longest[room] = $1; name[room] = $2 }
    }
    END {
        printf "%-16s %6s %6s   %s\n", "room", "files", "lines", "longest file"
        fflush()
        for (room in lines) {
            label = name[room]
            sub(/^\.\//, "", label)
            printf "%-16s %6d %6d   %d %s\n", room, files[room], lines[room], longest[room], label | "sort"
        }
        close("sort")
        printf "%-16s %6d %6d\n", "all", count, sum
    }'
