/*
 * Reads one handwritten digit from a gray image. The rest of the firmware sees only this header:
 * neither the tensors nor the quantisation of the net leak out of digit_reader.c.
 */
#ifndef DIGIT_READER_H
#define DIGIT_READER_H

#include <stdint.h>

#define DIGIT_READER_WIDTH 8
#define DIGIT_READER_HEIGHT 8
#define DIGIT_READER_PIXELS (DIGIT_READER_WIDTH * DIGIT_READER_HEIGHT)
#define DIGIT_READER_MAX_GRAY 16

/* What digit_reader_read() answers when it has no digit. */
#define DIGIT_READER_UNSURE (-1)
#define DIGIT_READER_FAILED (-2)

/* Prepare the reader; call once before the first image. */
void digit_reader_init(void);

/*
 * Read a digit.
 *
 * pixels: rows from top to bottom, 0 = background to DIGIT_READER_MAX_GRAY = ink; larger values count as ink.
 *
 * Returns 0 to 9, DIGIT_READER_UNSURE below the required probability, DIGIT_READER_FAILED when the net
 * reported an error. Not reentrant: there is one arena.
 */
int32_t digit_reader_read(const uint8_t pixels[DIGIT_READER_PIXELS]);

#endif
