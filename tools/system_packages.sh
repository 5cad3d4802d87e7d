#!/bin/bash
# Install what this machine lacks of the Debian packages the project needs; do nothing when all is there.
#
# Usage: tools/system_packages.sh firmware    cross compiler, C library, QEMU, Python's venv module
#        tools/system_packages.sh host        C and C++ compiler of this machine, for the tests
set -euo pipefail

missing=()

has()
{
    command -v "$1" >/dev/null
}

find_missing_firmware_tools()
{
    has arm-none-eabi-gcc || missing+=(gcc-arm-none-eabi)
    # The compiler answers with a full path when the C library is there, with the bare name otherwise.
    if ! has arm-none-eabi-gcc || [[ "$(arm-none-eabi-gcc -print-file-name=nano.specs)" != /* ]]; then
        missing+=(libnewlib-arm-none-eabi)
    fi
    has qemu-system-arm || missing+=(qemu-system-arm)
    if [[ ! -x "${VENV:-.venv}/bin/pip" ]]; then
        local python
        python="$("$(dirname "$0")/find_python.sh")"
        # Debian keeps ensurepip, which venv needs, in a package of its own.
        if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
            missing+=("$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')")
        fi
    fi
}

find_missing_host_compiler()
{
    if ! has gcc || ! has g++; then
        missing+=(g++) # brings gcc and the C library's headers
    fi
}

give_up()
{
    echo "error: missing Debian packages: ${missing[*]}; $1" >&2
    exit 1
}

install_missing()
{
    local as_root=()
    has apt-get || give_up "this system has no apt-get, so install their equivalents by hand"
    if [[ "$(id -u)" != 0 ]]; then
        has sudo || give_up "install them as root: apt-get install ${missing[*]}"
        # Without a terminal sudo cannot ask for a password.
        [[ -t 0 ]] || sudo -n true 2>/dev/null ||
            give_up "sudo needs a password here, so first run: sudo apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    echo "Installing Debian packages: ${missing[*]}"
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
    # A source list that cannot be refreshed need not be the one these packages come from.
    "${apt[@]}" update || echo "warning: apt-get update failed; trying with the lists there are" >&2
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null ||
        give_up "apt-get could not install them (its message is above)"
}

case "${1:-}" in
    firmware) find_missing_firmware_tools ;;
    host) find_missing_host_compiler ;;
    *)
        echo "usage: $0 firmware|host" >&2
        exit 2
        ;;
esac
if ((${#missing[@]})); then
    install_missing
fi
