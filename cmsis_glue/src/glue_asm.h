/* Whether the assembly forms of the fast kernels are taken. Read by C and assembly. */

#ifndef GLUE_ASM_H
#define GLUE_ASM_H

/* GNU syntax is what gcc, clang and Arm Compiler 6 read. GLUE_NO_ASM asks for the C forms. */
#if defined(__GNUC__) && defined(__arm__) && !defined(GLUE_NO_ASM)
#define GLUE_ASM 1
#else
#define GLUE_ASM 0
#endif

#endif /* GLUE_ASM_H */
