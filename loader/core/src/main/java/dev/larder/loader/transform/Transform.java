package dev.larder.loader.transform;

import dev.larder.npy.Dtype;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Declares the steps for each sample of an array, done in their order.
 *
 * <pre>{@code
 * new Transform().toFloat().normalize(0.286f, 0.353f)
 * new Transform().randomCrop(32, 32, 4).randomFlip(0.5f).toFloat().normalize(means, deviations).channelsFirst()
 * new Transform().oneHot(10)
 * }</pre>
 *
 * <p>Rows of different lengths, such as texts, files and encoded images, need a step that makes them rows of one shape:
 * {@code mapRow} or {@link #decode}. A sample of three dimensions is height × width × channels, one of two height ×
 * width with one channel, until {@link #channelsFirst}. Vectors have as many channels as elements, all else has one.
 * Immutable; every method returns a new one.
 */
public record Transform(List<Step> steps) {
    /** Takes steps from elsewhere. */
    public Transform {
        steps = List.copyOf(steps);
    }

    /** Begins a transform: without a step, it leaves samples as they are. */
    public Transform() {
        this(List.of());
    }

    /** Adds {@link Step.ToFloat}: 0 to 255 become 0 to 1, floats become float32. Other integers need {@link #cast} or {@link #scale}. */
    public Transform toFloat() {
        return with(new Step.ToFloat());
    }

    /**
     * Adds {@link Step.Cast}: converts as numpy's {@code astype}, to and from truth values, integers of 1 to 8 bytes and floats of
     * 2, 4 and 8, in either byte order.
     *
     * <p>Integers are cut to their lower bits; to float is rounded to the nearest, ties to even; what is not 0 is true. From float
     * to integer the fraction is dropped, what lies beyond the type becomes its smallest or largest number and NaN 0, where numpy
     * leaves it to the machine.
     */
    public Transform cast(Dtype dtype) {
        return with(new Step.Cast(dtype));
    }

    /** Adds {@link Step.Cast} to a type as numpy writes it, such as {@code <f2}. */
    public Transform cast(String descr) {
        return cast(Dtype.parse(descr));
    }

    /** Adds {@link Step.Scale}: {@code x * factor + offset} in float32, for numbers of any type. */
    public Transform scale(float factor, float offset) {
        return with(new Step.Scale(factor, offset));
    }

    /** Adds {@link Step.Normalize} with the same mean and standard deviation for all elements, which must be floats. */
    public Transform normalize(float mean, float deviation) {
        return with(new Step.Normalize(List.of(mean), List.of(deviation)));
    }

    /** Adds {@link Step.Normalize} with a mean and a standard deviation for each channel; elements must be floats. */
    public Transform normalize(float[] means, float[] deviations) {
        return with(new Step.Normalize(boxed(means), boxed(deviations)));
    }

    /**
     * Adds {@link Step.ToBfloat16}: rounds floats to bfloat16, ties to even; NaN stays NaN. numpy has no such type, so {@code <u2}
     * with the same bits come out. Doubles are made floats first.
     */
    public Transform toBfloat16() {
        return with(new Step.ToBfloat16());
    }

    /** Adds {@link Step.FromBfloat16}: {@code u2} with the bits of bfloat16 numbers become float32. */
    public Transform fromBfloat16() {
        return with(new Step.FromBfloat16());
    }

    /** Adds {@link Step.RandomCrop}: every place that the window can take in the padded sample is equally likely. */
    public Transform randomCrop(int height, int width, int padding) {
        return with(new Step.RandomCrop(height, width, padding));
    }

    /** Adds {@link Step.CenterCrop}. */
    public Transform centerCrop(int height, int width) {
        return with(new Step.CenterCrop(height, width));
    }

    /** Adds {@link Step.RandomFlip}: mirrors left and right with this probability. */
    public Transform randomFlip(float probability) {
        return with(new Step.RandomFlip(probability));
    }

    /** Adds {@link Step.Flip}: mirrors left and right. */
    public Transform flip() {
        return with(new Step.Flip());
    }

    /** Adds {@link Step.ChannelsFirst}: height × width × channels becomes channels × height × width; two dimensions get a channel. */
    public Transform channelsFirst() {
        return with(new Step.ChannelsFirst());
    }

    /** Adds {@link Step.OneHot}: a further dimension, as long as there are classes, counted from 0. Elements must be integers. */
    public Transform oneHot(int classes) {
        return with(new Step.OneHot(classes));
    }

    /** Adds {@link Step.MapFloats}: the user's code on values that must be float32 by then. */
    public Transform map(SampleFunction function) {
        return with(new Step.MapFloats(function));
    }

    /** Adds {@link Step.MapBytes}: the user's code from bytes to the bytes of a sample of this type and shape. */
    public Transform map(Dtype dtype, long[] shape, BytesFunction function) {
        return with(new Step.MapBytes(dtype, Arrays.stream(shape).boxed().toList(), function));
    }

    /**
     * Adds {@link Step.MapRow}: the user's code from a row's bytes, whatever their number, to a row of this type and
     * shape. Where it is the first step it sees the bytes as they lie in the store, without a copy, and where it is the
     * last it writes the batch. It must give the same for the same bytes.
     */
    public Transform mapRow(Dtype dtype, long[] shape, RowFunction function) {
        return mapRow(dtype, shape, false, false, (row, result, random) -> {
            function.apply(row, result);
            return 0;
        });
    }

    /** Adds {@link Step.MapRow} with a function that draws random numbers. */
    public Transform mapRow(Dtype dtype, long[] shape, RowFunction.Random function) {
        return mapRow(dtype, shape, false, true, (row, result, random) -> {
            function.apply(row, result, random);
            return 0;
        });
    }

    /**
     * Adds {@link Step.MapRow} whose rows differ in their first dimension: the function says how many items a row
     * became, at most as many as {@code most} says. Batches have them packed, or padded where the field is. There can
     * be one such step, after which steps must change elements one by one.
     */
    public Transform mapRagged(Dtype dtype, long[] most, RaggedFunction function) {
        return mapRow(dtype, most, true, false, (row, result, random) -> function.apply(row, result));
    }

    /**
     * Adds {@link Step.MapRow} whose rows differ in their first dimension, with a function that draws random numbers.
     */
    public Transform mapRagged(Dtype dtype, long[] most, RaggedFunction.Random function) {
        return mapRow(dtype, most, true, true, function);
    }

    private Transform mapRow(
            Dtype dtype, long[] shape, boolean ragged, boolean random, RaggedFunction.Random function) {
        List<Long> sizes = Arrays.stream(shape).boxed().toList();
        return with(new Step.MapRow(dtype, sizes, ragged, random, function));
    }

    /**
     * Adds {@link Step.Decode}: makes an encoded image {@code |u1}, height × width × channels, three or, for grey, one.
     * EXIF rotation is ignored. The next step gives all images one size: {@link
     * #resize(int, int)}, {@link #resizeShorter} with {@link #centerCrop}, {@link #randomResizedCrop(int, int)} or
     * {@link #centerCrop}.
     */
    public Transform decode(Colours colours) {
        return decode(colours, Step.Decode.MAX_PIXELS);
    }

    /** Adds {@link Step.Decode} at a size of choice; without it, images are decoded at {@link DecodeSize#FULL}. */
    public Transform decode(Colours colours, DecodeSize size) {
        return decode(new Step.Decode(colours, size, Step.Decode.MAX_PIXELS, JpegDecoder.AUTO));
    }

    /** Adds {@link Step.Decode} that fails for images of more pixels, before it takes memory for them. */
    public Transform decode(Colours colours, long maxPixels) {
        return decode(colours, maxPixels, JpegDecoder.AUTO);
    }

    /** Adds {@link Step.Decode} with a decoder of choice. */
    public Transform decode(Colours colours, long maxPixels, JpegDecoder jpegDecoder) {
        return decode(new Step.Decode(colours, DecodeSize.FULL, maxPixels, jpegDecoder));
    }

    /** Adds a {@link Step.Decode} with a size, a limit and a decoder of choice. */
    public Transform decode(Step.Decode decode) {
        return with(decode);
    }

    /** Adds {@link Step.Resize} with {@link Resampling#BILINEAR}. */
    public Transform resize(int height, int width) {
        return resize(height, width, Resampling.BILINEAR);
    }

    /** Adds {@link Step.Resize}: bytes of images of one size, or of decoded ones of any size. */
    public Transform resize(int height, int width, Resampling filter) {
        return with(new Step.Resize(height, width, filter));
    }

    /** Adds {@link Step.ResizeShorter} with {@link Resampling#BILINEAR}; {@link #centerCrop} follows. */
    public Transform resizeShorter(int side) {
        return resizeShorter(side, Resampling.BILINEAR);
    }

    /** Adds {@link Step.ResizeShorter}, right behind {@link #decode(Colours)}; {@link #centerCrop} follows. */
    public Transform resizeShorter(int side, Resampling filter) {
        return with(new Step.ResizeShorter(side, filter));
    }

    /**
     * Adds {@link Step.RandomResizedCrop} as torchvision has it: 8 to 100 % of the area, 3:4 to 4:3, {@link
     * Resampling#BILINEAR}. It follows {@link #decode(Colours)}: images that are stored as pixels take {@link #resize(int,
     * int)}, {@link #randomCrop} and {@link #centerCrop}.
     */
    public Transform randomResizedCrop(int height, int width) {
        return randomResizedCrop(height, width, 0.08f, 1);
    }

    /**
     * Adds {@link Step.RandomResizedCrop} of shares of the area, with proportions of 3:4 to 4:3 and {@link
     * Resampling#BILINEAR}.
     */
    public Transform randomResizedCrop(int height, int width, float minArea, float maxArea) {
        return randomResizedCrop(
                new Step.RandomResizedCrop(height, width, minArea, maxArea, 3 / 4f, 4 / 3f, Resampling.BILINEAR));
    }

    /** Adds a {@link Step.RandomResizedCrop} with proportions and a filter of choice. */
    public Transform randomResizedCrop(Step.RandomResizedCrop crop) {
        return with(crop);
    }

    /**
     * Adds {@link Step.ColourJitter} as torchvision has it: factors of {@code 1 - x} to {@code 1 + x}, but not below 0;
     * for the hue a turn by {@code -hue} to {@code hue} of the circle. Samples must be RGB bytes, height × width × 3.
     */
    public Transform colourJitter(float brightness, float contrast, float saturation, float hue) {
        return with(new Step.ColourJitter(brightness, contrast, saturation, hue));
    }

    /** Adds the steps of another one. */
    public Transform then(Transform next) {
        List<Step> all = new ArrayList<>(steps);
        all.addAll(next.steps);
        return new Transform(all);
    }

    private Transform with(Step step) {
        return then(new Transform(List.of(step)));
    }

    private static List<Float> boxed(float[] values) {
        return IntStream.range(0, values.length).mapToObj(i -> values[i]).toList();
    }

    @Override
    public String toString() {
        return "Transform" + steps;
    }
}
