/*
 * What glue_dense_mve() and glue_dense_s4_mve() share: all but how weights are loaded.
 *
 * Eight channels at a time: eight sums, in the even registers, the only ones VMLADAV adds to. They start at the biases.
 *
 *   r0 r2 r4 r6 r8 r10 r12 lr   sums          q0 q1  codes, weights; then sums of even and odd channels
 *   r1  row                                   q2 q3  weights; requantisation
 *   r3  stream                                q4 q5  low, high
 *   r5  turns of the loop over steps          q6     zero point
 *   r7  output, r9 channels left              p0     codes of the last step of a row
 *   r11 what is constant: the filter
 *
 * The row is read by bytes: it needs no alignment. The stream is 16-byte aligned and is read by words.
 *
 * A file that includes it defines DENSE, the name of the function, and the macros products (a step) and separate (from
 * sums of products, in q0 and q1, to those of channels).
 */

#ifndef GLUE_DENSE_MVE_ASM_H
#define GLUE_DENSE_MVE_ASM_H

/* struct glue_filter_mve */
#define FILTER_STREAM 0
#define FILTER_STEPS 4
#define FILTER_CHANNELS 8
#define FILTER_ZERO 12
#define FILTER_LOW 16
#define FILTER_HIGH 20
#define FILTER_FORM 24

/* the frame */
#define ROW 0
#define FULL 4      /* steps before the last one */
#define LAST 8      /* codes in the last step */
#define GENERAL 12  /* 0 unless the form is */
#define FRAME 20

    .section .text.DENSE, "ax", %progbits
    .balign 4
    .global DENSE
    .type DENSE, %function
    .thumb_func
DENSE:
    push {r4-r11, lr}
    vpush {d8-d13}
    sub sp, #FRAME
    mov r7, r3
    ldrd r3, r4, [r0, #FILTER_STREAM]
    ldrd r9, r6, [r0, #FILTER_CHANNELS]
    vdup.16 q6, r6
    ldrd r6, r8, [r0, #FILTER_LOW]
    vdup.16 q4, r6
    vdup.16 q5, r8
    ldr r6, [r0, #FILTER_FORM]
    lsrs r6, r6, #1                     /* GLUE_MVE_GENERAL is 2 */
    str r6, [sp, #GENERAL]
    subs r4, #1
    sub r6, r1, r4, lsl #4
    str r2, [sp, #ROW]
    strd r4, r6, [sp, #FULL]

.Lgroup:
    ldrd r1, r5, [sp, #ROW]
    ldr r0, [sp, #LAST]
    vctp.8 r0
    lsrs r5, #1                         /* two steps a turn; carry: an odd step first; zero: no turns */
    ldm r3!, {r0, r2, r4, r6, r8, r10, r12, lr}
    bcc 1f
    vldrb.u8 q0, [r1], #16
    products
1:
    beq 3f                              /* there were none or one */
2:
    vldrb.u8 q0, [r1], #16
    products
    vldrb.u8 q0, [r1], #16
    products
    subs r5, #1
    bne 2b
3:
    vpst
    vldrbt.u8 q0, [r1]
    products

    vmov q0[2], q0[0], r0, r8
    vmov q0[3], q0[1], r4, r12
    vmov q1[2], q1[0], r2, r10
    vmov q1[3], q1[1], r6, lr
    separate
    ldr r0, [sp, #GENERAL]
    cbz r0, 4f
    vldrw.u32 q2, [r3], #16             /* left shifts; what saturates is clamped anyhow */
    vldrw.u32 q3, [r3], #16
    vqshl.s32 q0, q0, q2
    vqshl.s32 q1, q1, q3
4:
    vldrw.u32 q2, [r3], #16
    vldrw.u32 q3, [r3], #16
    high_product q0, q0, q2
    high_product q1, q1, q3
    vldrw.u32 q2, [r3], #16             /* minus the right shifts */
    away_from_zero q0, q2, q3
    vrshl.s32 q0, q0, q2
    vldrw.u32 q2, [r3], #16
    away_from_zero q1, q2, q3
    vrshl.s32 q1, q1, q2
    vqmovnb.s32 q0, q0
    vqmovnt.s32 q0, q1
    vqadd.s16 q0, q0, q6
    vmax.s16 q0, q0, q4
    vmin.s16 q0, q0, q5
    vctp.16 r9
    vpst
    vstrbt.16 q0, [r7], #8
    subs r9, #8
    bgt .Lgroup

    movs r0, #0
    add sp, #FRAME
    vpop {d8-d13}
    pop {r4-r11, pc}
    .size DENSE, . - DENSE

#endif /* GLUE_DENSE_MVE_ASM_H */
