#include "digit_reader.h"

/* A frame as a camera driver would deliver it; an image of the test set, labelled 3. */
static const uint8_t frame[DIGIT_READER_PIXELS] = {
    0, 0,  9,  16, 16, 12, 2, 0,
    0, 3,  13, 5,  4,  14, 5, 0,
    0, 0,  0,  0,  7,  15, 2, 0,
    0, 0,  0,  5,  16, 11, 0, 0,
    0, 0,  0,  0,  8,  16, 7, 0,
    0, 0,  0,  0,  0,  13, 8, 0,
    0, 0,  4,  5,  5,  15, 4, 0,
    0, 0,  12, 16, 15, 5,  0, 0,
};

/* Where a debugger, or the rest of the firmware, finds the answer. */
volatile int32_t digit_read;

int main(void)
{
    digit_reader_init();
    digit_read = digit_reader_read(frame);
    return digit_read == 3 ? 0 : 1;
}
