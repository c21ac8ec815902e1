package dev.larder.loader.transform;

import dev.larder.npy.Dtype;
import java.util.Collections;
import java.util.List;

/**
 * One declaration of a {@link Transform}: what to do, without how.
 *
 * <p>All but the maps are plain values, equal if they ask for the same. A step says nothing about the samples it meets;
 * that they fit is checked when a loader is built with it.
 */
public sealed interface Step {
    /**
     * Returns whether it draws random numbers: by itself, or as {@link MapRow} was told. Functions of {@link MapFloats}
     * and {@link MapBytes} may draw where this is false.
     */
    default boolean isRandom() {
        return false;
    }

    /** Makes float32 numbers: unsigned 8-bit ones are divided by 255, truth values become 0 and 1, floats stay what they are. */
    record ToFloat() implements Step {
        @Override
        public String toString() {
            return "toFloat()";
        }
    }

    /** Converts elements to another type. */
    record Cast(Dtype dtype) implements Step {
        @Override
        public String toString() {
            return "cast(" + dtype + ")";
        }
    }

    /** Makes {@code x * factor + offset} of every element, in float32, rounded twice. */
    record Scale(float factor, float offset) implements Step {
        @Override
        public String toString() {
            return "scale(" + factor + ", " + offset + ")";
        }
    }

    /** Makes {@code (x - mean) * (1 / std)} of every element, in float32; one mean and deviation for all channels, or one for each. */
    record Normalize(List<Float> means, List<Float> deviations) implements Step {
        /** Checks that there are as many means as deviations, and that one can divide by these. */
        public Normalize {
            means = List.copyOf(means);
            deviations = List.copyOf(deviations);
            if (means.isEmpty() || means.size() != deviations.size()) {
                throw new IllegalArgumentException(
                        "the numbers of means and deviations differ: means=" + means + " deviations=" + deviations);
            }
            for (float deviation : deviations) {
                if (!(deviation > 0) || !Float.isFinite(1 / deviation)) {
                    throw new IllegalArgumentException("a deviation must be positive: deviations=" + deviations);
                }
            }
        }

        @Override
        public String toString() {
            return "normalize(" + means + ", " + deviations + ")";
        }
    }

    /** Makes bfloat16 numbers of floats, as unsigned 16-bit integers with their bits: the nearest, ties to even. */
    record ToBfloat16() implements Step {
        @Override
        public String toString() {
            return "toBfloat16()";
        }
    }

    /** Makes float32 numbers of bfloat16 ones, which are stored as unsigned 16-bit integers with their bits. */
    record FromBfloat16() implements Step {
        @Override
        public String toString() {
            return "fromBfloat16()";
        }
    }

    /** Cuts out a window at random, after adding a border of zeros on all four sides. */
    record RandomCrop(int height, int width, int padding) implements Step {
        /** Checks that the window is one. */
        public RandomCrop {
            requireWindow(height, width);
            if (padding < 0 || padding > 1 << 20) {
                throw new IllegalArgumentException("padding must be 0 to 2^20: padding=" + padding);
            }
        }

        @Override
        public boolean isRandom() {
            return true;
        }

        @Override
        public String toString() {
            return "randomCrop(" + height + ", " + width + ", " + padding + ")";
        }
    }

    /** Cuts out the window in the middle; of an odd rest, one more is left at the bottom and on the right. */
    record CenterCrop(int height, int width) implements Step {
        /** Checks that the window is one. */
        public CenterCrop {
            requireWindow(height, width);
        }

        @Override
        public String toString() {
            return "centerCrop(" + height + ", " + width + ")";
        }
    }

    /** Mirrors left and right for some of the samples. */
    record RandomFlip(float probability) implements Step {
        /** Checks that it is a probability. */
        public RandomFlip {
            if (!(probability >= 0 && probability <= 1)) {
                throw new IllegalArgumentException("a probability is 0 to 1: probability=" + probability);
            }
        }

        @Override
        public boolean isRandom() {
            return true;
        }

        @Override
        public String toString() {
            return "randomFlip(" + probability + ")";
        }
    }

    /** Mirrors left and right. */
    record Flip() implements Step {
        @Override
        public String toString() {
            return "flip()";
        }
    }

    /** Moves the channels from the last dimension to the first. */
    record ChannelsFirst() implements Step {
        @Override
        public String toString() {
            return "channelsFirst()";
        }
    }

    /** Makes a vector of float32 of every class number: 1 at its place, 0 elsewhere. */
    record OneHot(int classes) implements Step {
        /** Checks that there is a class. */
        public OneHot {
            if (classes < 1) {
                throw new IllegalArgumentException("there must be at least one class: classes=" + classes);
            }
        }

        @Override
        public String toString() {
            return "oneHot(" + classes + ")";
        }
    }

    /** Runs the user's code on the float32 values of a sample. */
    record MapFloats(SampleFunction function) implements Step {
        @Override
        public String toString() {
            return "map(…)";
        }
    }

    /** Runs the user's code on the bytes of a sample, into others. */
    record MapBytes(Dtype dtype, List<Long> shape, BytesFunction function) implements Step {
        /** Checks that the shape is one. */
        public MapBytes {
            shape = List.copyOf(shape);
            if (!shape.isEmpty() && Collections.min(shape) < 0) {
                throw new IllegalArgumentException("a dimension is negative: shape=" + shape);
            }
        }

        @Override
        public String toString() {
            return "map(" + dtype + ", " + shape + ", …)";
        }
    }

    /**
     * Runs the user's code on the bytes of a row, whatever its length, into a row of this type and shape, or, where the
     * result is ragged, of at most so many items along the first dimension.
     *
     * @param ragged whether the function says how many items the row became
     * @param random whether the function draws random numbers; another gives the same bytes for the same row at any
     *     time
     */
    record MapRow(Dtype dtype, List<Long> shape, boolean ragged, boolean random, RaggedFunction.Random function)
            implements Step {
        /** Checks that the shape is one. */
        public MapRow {
            shape = List.copyOf(shape);
            if (!shape.isEmpty() && Collections.min(shape) < 0) {
                throw new IllegalArgumentException("a dimension is negative: shape=" + shape);
            }
            if (ragged && (shape.isEmpty() || shape.get(0) < 1)) {
                throw new IllegalArgumentException(
                        "ragged rows have a first dimension, and the most it can be: shape=" + shape);
            }
        }

        @Override
        public boolean isRandom() {
            return random;
        }

        @Override
        public String toString() {
            return (ragged ? "mapRagged(" : "mapRow(") + dtype + ", " + shape + ", …)";
        }
    }

    /** Decodes an encoded image of at most so many pixels into bytes, height × width × channels. */
    record Decode(Colours colours, DecodeSize size, long maxPixels, JpegDecoder jpegDecoder) implements Step {
        /** How many pixels an image may have where nothing else is said: 2²⁶. */
        public static final long MAX_PIXELS = 1 << 26;

        /** Checks that the limit is one, and that memory can be had for it. */
        public Decode {
            if (maxPixels < 1 || maxPixels > 1 << 28) {
                throw new IllegalArgumentException("the limit must be 1 to 2^28 pixels: maxPixels=" + maxPixels);
            }
        }

        @Override
        public String toString() {
            return "decode(" + colours + ", " + size + ", " + maxPixels + ", " + jpegDecoder + ")";
        }
    }

    /** Makes an image so high and wide. */
    record Resize(int height, int width, Resampling filter) implements Step {
        /** Checks that the result is an image. */
        public Resize {
            requireWindow(height, width);
        }

        @Override
        public String toString() {
            return "resize(" + height + ", " + width + ", " + filter + ")";
        }
    }

    /** Makes an image's shorter side so long, and the other one as long as the proportions ask for. */
    record ResizeShorter(int side, Resampling filter) implements Step {
        /** Checks that the result is an image. */
        public ResizeShorter {
            requireWindow(side, side);
        }

        @Override
        public String toString() {
            return "resizeShorter(" + side + ", " + filter + ")";
        }
    }

    /**
     * Cuts out a random part of an image, of a share of its area and of proportions within bounds, and makes it so high
     * and wide.
     *
     * @param minArea the least share of the area, above 0
     * @param maxArea the largest share, at most 1
     * @param minRatio the least width, as a multiple of the height
     * @param maxRatio the largest
     */
    record RandomResizedCrop(
            int height, int width, float minArea, float maxArea, float minRatio, float maxRatio, Resampling filter)
            implements Step {
        /** Checks that there are such parts. */
        public RandomResizedCrop {
            requireWindow(height, width);
            if (!(minArea > 0 && minArea <= maxArea && maxArea <= 1)) {
                throw new IllegalArgumentException(
                        "shares of the area are above 0 and at most 1: minArea=" + minArea + " maxArea=" + maxArea);
            }
            if (!(minRatio > 0 && minRatio <= maxRatio && Float.isFinite(maxRatio))) {
                throw new IllegalArgumentException(
                        "proportions are above 0: minRatio=" + minRatio + " maxRatio=" + maxRatio);
            }
        }

        @Override
        public boolean isRandom() {
            return true;
        }

        @Override
        public String toString() {
            return "randomResizedCrop(" + height + ", " + width + ", " + minArea + ", " + maxArea + ", " + minRatio
                    + ", " + maxRatio + ", " + filter + ")";
        }
    }

    /** Changes brightness, contrast, saturation and hue of RGB bytes by random factors, in random order. */
    record ColourJitter(float brightness, float contrast, float saturation, float hue) implements Step {
        /** Checks the bounds. */
        public ColourJitter {
            if (!(brightness >= 0
                    && contrast >= 0
                    && saturation >= 0
                    && Float.isFinite(brightness + contrast + saturation))) {
                throw new IllegalArgumentException("a change must not be negative: brightness=" + brightness
                        + " contrast=" + contrast + " saturation=" + saturation);
            }
            if (!(hue >= 0 && hue <= 0.5f)) {
                throw new IllegalArgumentException("the change of hue is 0 to 0.5: hue=" + hue);
            }
        }

        @Override
        public boolean isRandom() {
            return true;
        }

        @Override
        public String toString() {
            return "colourJitter(" + brightness + ", " + contrast + ", " + saturation + ", " + hue + ")";
        }
    }

    private static void requireWindow(int height, int width) {
        if (height < 1 || width < 1) {
            throw new IllegalArgumentException("a window has rows and columns: height=" + height + " width=" + width);
        }
    }
}
