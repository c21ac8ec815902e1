package dev.larder.loader.transform;

import dev.larder.npy.Dtype;

/**
 * Begins a {@link Transform} with its first step; each method is explained there.
 *
 * <pre>{@code
 * Transforms.toFloat().normalize(0.286f, 0.353f)
 * Transforms.randomCrop(32, 32, 4).randomFlip(0.5f).toFloat().normalize(means, deviations).channelsFirst()
 * Transforms.oneHot(10)
 * }</pre>
 */
public final class Transforms {
    private Transforms() {}

    /** Returns the transform that leaves samples as they are. */
    public static Transform none() {
        return Transform.NONE;
    }

    /** Begins with {@link Transform#toFloat}. */
    public static Transform toFloat() {
        return none().toFloat();
    }

    /** Begins with {@link Transform#cast(Dtype)}. */
    public static Transform cast(Dtype dtype) {
        return none().cast(dtype);
    }

    /** Begins with {@link Transform#cast(String)}. */
    public static Transform cast(String descr) {
        return none().cast(descr);
    }

    /** Begins with {@link Transform#scale}. */
    public static Transform scale(float factor, float offset) {
        return none().scale(factor, offset);
    }

    /** Begins with {@link Transform#normalize(float, float)}. */
    public static Transform normalize(float mean, float deviation) {
        return none().normalize(mean, deviation);
    }

    /** Begins with {@link Transform#normalize(float[], float[])}. */
    public static Transform normalize(float[] means, float[] deviations) {
        return none().normalize(means, deviations);
    }

    /** Begins with {@link Transform#toBfloat16}. */
    public static Transform toBfloat16() {
        return none().toBfloat16();
    }

    /** Begins with {@link Transform#fromBfloat16}. */
    public static Transform fromBfloat16() {
        return none().fromBfloat16();
    }

    /** Begins with {@link Transform#randomCrop}. */
    public static Transform randomCrop(int height, int width, int padding) {
        return none().randomCrop(height, width, padding);
    }

    /** Begins with {@link Transform#centerCrop}. */
    public static Transform centerCrop(int height, int width) {
        return none().centerCrop(height, width);
    }

    /** Begins with {@link Transform#randomFlip}. */
    public static Transform randomFlip(float probability) {
        return none().randomFlip(probability);
    }

    /** Begins with {@link Transform#flip}. */
    public static Transform flip() {
        return none().flip();
    }

    /** Begins with {@link Transform#channelsFirst}. */
    public static Transform channelsFirst() {
        return none().channelsFirst();
    }

    /** Begins with {@link Transform#oneHot}. */
    public static Transform oneHot(int classes) {
        return none().oneHot(classes);
    }

    /** Begins with {@link Transform#map(SampleFunction)}. */
    public static Transform map(SampleFunction function) {
        return none().map(function);
    }

    /** Begins with {@link Transform#map(Dtype, long[], BytesFunction)}. */
    public static Transform map(Dtype dtype, long[] shape, BytesFunction function) {
        return none().map(dtype, shape, function);
    }

    /** Begins with {@link Transform#mapRow(Dtype, long[], RowFunction)}. */
    public static Transform mapRow(Dtype dtype, long[] shape, RowFunction function) {
        return none().mapRow(dtype, shape, function);
    }

    /** Begins with {@link Transform#mapRow(Dtype, long[], RowFunction.Random)}. */
    public static Transform mapRow(Dtype dtype, long[] shape, RowFunction.Random function) {
        return none().mapRow(dtype, shape, function);
    }

    /** Begins with {@link Transform#mapRagged(Dtype, long[], RaggedFunction)}. */
    public static Transform mapRagged(Dtype dtype, long[] most, RaggedFunction function) {
        return none().mapRagged(dtype, most, function);
    }

    /** Begins with {@link Transform#mapRagged(Dtype, long[], RaggedFunction.Random)}. */
    public static Transform mapRagged(Dtype dtype, long[] most, RaggedFunction.Random function) {
        return none().mapRagged(dtype, most, function);
    }

    /** Begins with {@link Transform#decode(Colours)}. */
    public static Transform decode(Colours colours) {
        return none().decode(colours);
    }

    /** Begins with {@link Transform#decode(Colours, DecodeSize)}. */
    public static Transform decode(Colours colours, DecodeSize size) {
        return none().decode(colours, size);
    }

    /** Begins with {@link Transform#decode(Colours, long)}. */
    public static Transform decode(Colours colours, long maxPixels) {
        return none().decode(colours, maxPixels);
    }

    /** Begins with {@link Transform#decode(Colours, long, JpegDecoder)}. */
    public static Transform decode(Colours colours, long maxPixels, JpegDecoder jpegDecoder) {
        return none().decode(colours, maxPixels, jpegDecoder);
    }

    /** Begins with {@link Transform#decode(Step.Decode)}. */
    public static Transform decode(Step.Decode decode) {
        return none().decode(decode);
    }

    /** Begins with {@link Transform#resize(int, int)}. */
    public static Transform resize(int height, int width) {
        return none().resize(height, width);
    }

    /** Begins with {@link Transform#resize(int, int, Resampling)}. */
    public static Transform resize(int height, int width, Resampling filter) {
        return none().resize(height, width, filter);
    }

    /** Begins with {@link Transform#resizeShorter(int)}. */
    public static Transform resizeShorter(int side) {
        return none().resizeShorter(side);
    }

    /** Begins with {@link Transform#resizeShorter(int, Resampling)}. */
    public static Transform resizeShorter(int side, Resampling filter) {
        return none().resizeShorter(side, filter);
    }

    /** Begins with {@link Transform#randomResizedCrop(int, int)}. */
    public static Transform randomResizedCrop(int height, int width) {
        return none().randomResizedCrop(height, width);
    }

    /** Begins with {@link Transform#randomResizedCrop(int, int, float, float)}. */
    public static Transform randomResizedCrop(int height, int width, float minArea, float maxArea) {
        return none().randomResizedCrop(height, width, minArea, maxArea);
    }

    /** Begins with {@link Transform#randomResizedCrop(Step.RandomResizedCrop)}. */
    public static Transform randomResizedCrop(Step.RandomResizedCrop crop) {
        return none().randomResizedCrop(crop);
    }

    /** Begins with {@link Transform#colourJitter}. */
    public static Transform colourJitter(float brightness, float contrast, float saturation, float hue) {
        return none().colourJitter(brightness, contrast, saturation, hue);
    }
}
