/* Compiler launcher for the tests: hundreds of projects compile the same kernels, each once is enough.
 *
 *   compiler_cache FOLDER COMPILER ARGUMENT...
 *
 * An object is known by the compiler's arguments, the source file and every header in the folders that are searched.
 * Paths below the parent of the working directory, which is the project, count from there. What is known is copied from
 * FOLDER with its stack usage file; all else is compiled, and kept when that succeeds.
 */
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEED 1469598103934665603ull
#define PRIME 1099511628211ull

typedef struct
{
    const char *source, *object, *rule, *depfile;
} job;

static char project[PATH_MAX];
static uint64_t key[2] = {SEED, ~SEED};
static FILE *dependencies; /* NULL while none are written */

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "compiler_cache: ");
    perror(what);
    exit(1);
}

static void hash(uint64_t state[2], const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
    {
        state[0] = (state[0] ^ bytes[i]) * PRIME;
        state[1] = (state[1] ^ bytes[i] ^ (state[1] >> 47)) * PRIME;
    }
}

/* A text with its end; `option` is the length of what may precede a path. */
static void hash_word(uint64_t state[2], const char *word, size_t option)
{
    const size_t length = strlen(project);
    hash(state, word, option);
    word += option;
    if (strncmp(word, project, length) == 0 && word[length] == '/')
    {
        word += length;
    }
    hash(state, word, strlen(word) + 1);
}

static void depend(const char *path)
{
    fputs(" \\\n ", dependencies);
    for (; *path; path++)
    {
        fputs(*path == ' ' || *path == '#' ? "\\" : *path == '$' ? "$" : "", dependencies);
        fputc(*path, dependencies);
    }
}

/* The order in which files are met does not matter. */
static void hash_file(const char *path)
{
    static char block[1 << 16];
    if (dependencies)
    {
        depend(path);
        return;
    }
    FILE *file = fopen(path, "rb");
    if (!file)
    {
        fail(path);
    }
    uint64_t state[2] = {SEED, ~SEED};
    hash_word(state, path, 0);
    for (size_t size; (size = fread(block, 1, sizeof block, file)) > 0;)
    {
        hash(state, block, size);
    }
    fclose(file);
    key[0] += state[0];
    key[1] += state[1];
}

static void hash_headers(const char *folder)
{
    DIR *listing = opendir(folder);
    if (!listing)
    {
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing));)
    {
        char path[PATH_MAX];
        const char *dot = strrchr(entry->d_name, '.');
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (dot && strcmp(dot, ".h") == 0)
        {
            hash_file(path);
        }
        else if (!dot && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        {
            hash_headers(path);
        }
    }
    closedir(listing);
}

static void hash_all(const job *wanted, char **words)
{
    char folder[PATH_MAX];
    hash_file(wanted->source);
    snprintf(folder, sizeof folder, "%s", wanted->source);
    *strrchr(folder, '/') = 0;
    hash_headers(folder);
    for (; *words; words++)
    {
        if (strncmp(*words, "-I", 2) == 0)
        {
            hash_headers(*words + 2);
        }
        else if (strcmp(*words, "-isystem") == 0)
        {
            hash_headers(words[1]);
        }
    }
}

static int copy(const char *from, const char *to)
{
    static char block[1 << 16];
    char partial[PATH_MAX];
    FILE *in = fopen(from, "rb");
    if (!in)
    {
        return 0;
    }
    snprintf(partial, sizeof partial, "%s.%ld", to, (long)getpid());
    FILE *out = fopen(partial, "wb");
    if (!out)
    {
        fail(partial);
    }
    for (size_t size; (size = fread(block, 1, sizeof block, in)) > 0;)
    {
        fwrite(block, 1, size, out);
    }
    fclose(in);
    if (fclose(out) || rename(partial, to))
    {
        fail(to);
    }
    return 1;
}

static int compile(char **words)
{
    int status;
    const pid_t child = fork();
    if (child == 0)
    {
        execvp(words[0], words);
        fail(words[0]);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
    {
        fail("fork");
    }
    return status;
}

int main(int count, char **words)
{
    job wanted = {0};
    if (count < 3)
    {
        return 2;
    }
    const char *kept = words[1];
    words += 2;
    if (!getcwd(project, sizeof project))
    {
        fail("getcwd");
    }
    *strrchr(project, '/') = 0;
    for (char **word = words; *word; word++)
    {
        const char **place = strcmp(*word, "-c") == 0    ? &wanted.source
                             : strcmp(*word, "-o") == 0  ? &wanted.object
                             : strcmp(*word, "-MT") == 0 ? &wanted.rule
                             : strcmp(*word, "-MF") == 0 ? &wanted.depfile
                                                         : NULL;
        if (place && word[1])
        {
            *place = *++word;
        }
        else
        {
            hash_word(key, *word, strncmp(*word, "-I", 2) == 0 ? 2 : 0);
        }
    }
    if (!wanted.source || !wanted.object || !wanted.rule || !wanted.depfile || !strchr(wanted.source, '/'))
    {
        execvp(words[0], words);
        fail(words[0]);
    }
    hash_all(&wanted, words);

    char object[PATH_MAX], frames[PATH_MAX + 3], own_frames[PATH_MAX];
    snprintf(object, sizeof object, "%s/%016llx%016llx.o", kept, (unsigned long long)key[0], (unsigned long long)key[1]);
    snprintf(frames, sizeof frames, "%s.su", object);
    snprintf(own_frames, sizeof own_frames, "%s", wanted.object);
    strcpy(strrchr(own_frames, '.'), ".su"); /* shorter than .obj */
    if (copy(object, wanted.object))
    {
        copy(frames, own_frames);
        dependencies = fopen(wanted.depfile, "w");
        if (!dependencies)
        {
            fail(wanted.depfile);
        }
        fprintf(dependencies, "%s:", wanted.rule);
        hash_all(&wanted, words);
        fputc('\n', dependencies);
        return fclose(dependencies) ? 1 : 0;
    }
    const int status = compile(words);
    if (status == 0)
    {
        copy(own_frames, frames);
        copy(wanted.object, object);
    }
    return status == 0 ? 0 : 1;
}
