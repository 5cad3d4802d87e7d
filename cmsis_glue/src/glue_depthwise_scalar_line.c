#include "glue_depthwise_scalar_line.h"

#include "glue_asm.h"

#if !GLUE_ASM

#include "glue_depthwise_scalar_roll.h"
#include "glue_scalar_internal.h"

static int8_t finish(const glue_depthwise_scalar_lines *run, int32_t sum)
{
    return run->rectified ? glue_rectified_scalar(sum, run->numbers) : glue_signed_scalar(sum, run->numbers);
}

void glue_depthwise_scalar_lines_1(const glue_depthwise_scalar_lines *run)
{
    glue_roll_lines_1(run, finish);
}

void glue_depthwise_scalar_lines_2(const glue_depthwise_scalar_lines *run)
{
    glue_roll_lines_2(run, finish);
}

#endif /* !GLUE_ASM */
