package dev.larder.loader.internal.transform;

import dev.larder.loader.internal.sample.Philox;
import dev.larder.loader.transform.Step;

/**
 * A crop or flip, with its parameters of a sample.
 *
 * <p>Parameters are drawn once for a sample: {@code Philox.bits(seed, epoch, position, number)}, where {@code number} counts the
 * random crops and flips of the transform from 0, and no other steps. Fields of one group draw alike. A crop takes two, row and
 * column of its corner in the padded picture, from the upper and the lower 32 bits: {@code bits * places >>> 32}. A flip takes one,
 * 1 or 0: whether {@code Philox.unitFloat} is less than its probability.
 */
sealed interface Move {
    /** Applies this move to the placement. */
    void place(Placement placement, int[] parameters);

    /** A crop at a fixed position. */
    record Crop(int height, int width, int y, int x) implements Move {
        @Override
        public void place(Placement placement, int[] parameters) {
            placement.crop(height, width, y, x);
        }
    }

    /** A flip of every sample. */
    record Flip() implements Move {
        @Override
        public void place(Placement placement, int[] parameters) {
            placement.flip();
        }
    }

    /** A move that differs from sample to sample. */
    sealed interface Drawn extends Move {
        /** Draws the parameters of a sample. */
        void draw(long seed, long epoch, long position, int[] parameters);
    }

    /** A crop at a random position; its parameters are at {@code first}. */
    record RandomCrop(Step.RandomCrop step, int rowPlaces, int columnPlaces, int number, int first) implements Drawn {
        @Override
        public void draw(long seed, long epoch, long position, int[] parameters) {
            long bits = Philox.bits(seed, epoch, position, number);
            parameters[first] = (int) (((bits >>> 32) * rowPlaces) >>> 32);
            parameters[first + 1] = (int) (((bits & 0xffff_ffffL) * columnPlaces) >>> 32);
        }

        @Override
        public void place(Placement placement, int[] parameters) {
            placement.crop(
                    step.height(),
                    step.width(),
                    parameters[first] - step.padding(),
                    parameters[first + 1] - step.padding());
        }
    }

    /** A flip of random samples; its parameter is at {@code first}. */
    record RandomFlip(float probability, int number, int first) implements Drawn {
        @Override
        public void draw(long seed, long epoch, long position, int[] parameters) {
            float drawn = Philox.unitFloat(Philox.bits(seed, epoch, position, number));
            parameters[first] = drawn < probability ? 1 : 0;
        }

        @Override
        public void place(Placement placement, int[] parameters) {
            if (parameters[first] != 0) {
                placement.flip();
            }
        }
    }
}
