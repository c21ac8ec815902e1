package dev.larder.loader.transform;

import dev.larder.npy.Dtype;
import java.util.Collections;
import java.util.List;

/**
 * One declared step of a {@link Transform}, without its implementation.
 *
 * <p>All steps except the maps are plain values and compare by value. A step does not describe its input samples; the
 * loader checks at build time that they fit.
 */
public sealed interface Step {
    /**
     * Returns whether the step draws random numbers, for {@link MapRow} as declared. The functions of {@link MapFloats}
     * and {@link MapBytes} may draw even if this returns false.
     */
    default boolean isRandom() {
        return false;
    }

    /** Converts to float32: divides unsigned 8-bit numbers by 255, maps truth values to 0 and 1, and keeps the values of floats. */
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

    /** Computes {@code x * factor + offset} for every element, in float32, rounded twice. */
    record Scale(float factor, float offset) implements Step {
        @Override
        public String toString() {
            return "scale(" + factor + ", " + offset + ")";
        }
    }

    /** Computes {@code (x - mean) * (1 / std)} for every element, in float32; one mean and deviation for all channels, or one for each. */
    record Normalize(List<Float> means, List<Float> deviations) implements Step {
        /** Checks that there are as many means as deviations, and that all deviations are positive. */
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

    /** Rounds floats to bfloat16, ties to even, stored as unsigned 16-bit integers with the same bits. */
    record ToBfloat16() implements Step {
        @Override
        public String toString() {
            return "toBfloat16()";
        }
    }

    /** Converts bfloat16 numbers, stored as unsigned 16-bit integers with the same bits, to float32. */
    record FromBfloat16() implements Step {
        @Override
        public String toString() {
            return "fromBfloat16()";
        }
    }

    /** Crops a random window, after adding a border of zeros on all four sides. */
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

    /** Crops the window in the middle. If the remainder is odd, the extra pixel stays at the bottom and on the right. */
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

    /** Mirrors left and right in some of the samples, at random. */
    record RandomFlip(float probability) implements Step {
        /** Checks that the probability is 0 to 1. */
        public RandomFlip {
            if (!(probability >= 0 && probability <= 1)) {
                throw new IllegalArgumentException("a probability must be 0 to 1: probability=" + probability);
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

    /** Converts every class number to a float32 vector: 1 at its index, 0 elsewhere. */
    record OneHot(int classes) implements Step {
        /** Checks that there is at least one class. */
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

    /** Runs the user's code on the bytes of a sample and writes its result. */
    record MapBytes(Dtype dtype, List<Long> shape, BytesFunction function) implements Step {
        /** Throws if a dimension is negative. */
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
     * Runs the user's code on the bytes of a row of any length. The result is a row of this type and shape. If it is
     * ragged, the first dimension of the shape is a maximum.
     *
     * @param ragged whether the function returns the number of items in the result
     * @param random whether the function draws random numbers; otherwise it always returns the same bytes for the same
     *     row
     */
    record MapRow(Dtype dtype, List<Long> shape, boolean ragged, boolean random, RaggedFunction.Random function)
            implements Step {
        /** Throws if a dimension is negative. */
        public MapRow {
            shape = List.copyOf(shape);
            if (!shape.isEmpty() && Collections.min(shape) < 0) {
                throw new IllegalArgumentException("a dimension is negative: shape=" + shape);
            }
            if (ragged && (shape.isEmpty() || shape.get(0) < 1)) {
                throw new IllegalArgumentException(
                        "ragged rows need a first dimension with its maximum: shape=" + shape);
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

    /** Decodes an encoded image of at most {@code maxPixels} pixels into bytes, height × width × channels. */
    record Decode(Colours colours, DecodeSize size, long maxPixels, JpegDecoder jpegDecoder) implements Step {
        /** The default limit of pixels per image: 2²⁶. */
        public static final long MAX_PIXELS = 1 << 26;

        /** Checks that the limit is positive and fits into an array. */
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

    /** Resizes an image to this height and width. */
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

    /** Resizes an image so that its shorter side has this length, and keeps its proportions. */
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
     * Crops a random part of an image, with its area and proportions within bounds, and resizes it to this height and
     * width.
     *
     * @param minArea the least share of the area, above 0
     * @param maxArea the largest share, at most 1
     * @param minRatio the least width, as a multiple of the height
     * @param maxRatio the largest
     */
    record RandomResizedCrop(
            int height, int width, float minArea, float maxArea, float minRatio, float maxRatio, Resampling filter)
            implements Step {
        /** Checks the bounds of area and proportions. */
        public RandomResizedCrop {
            requireWindow(height, width);
            if (!(minArea > 0 && minArea <= maxArea && maxArea <= 1)) {
                throw new IllegalArgumentException(
                        "shares of the area must be above 0 and at most 1: minArea=" + minArea + " maxArea=" + maxArea);
            }
            if (!(minRatio > 0 && minRatio <= maxRatio && Float.isFinite(maxRatio))) {
                throw new IllegalArgumentException(
                        "proportions must be above 0: minRatio=" + minRatio + " maxRatio=" + maxRatio);
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
                throw new IllegalArgumentException("the change of hue must be 0 to 0.5: hue=" + hue);
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
            throw new IllegalArgumentException("a window needs rows and columns: height=" + height + " width=" + width);
        }
    }
}
