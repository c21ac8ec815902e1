package dev.larder.loader.internal.transform;

import dev.larder.internal.number.Half;
import dev.larder.loader.transform.Step;
import dev.larder.loader.transform.Transform;
import dev.larder.npy.Dtype;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Does transforms as slowly and plainly as can be: step by step, element by element, integers as {@link BigInteger}. */
final class PlainTransform {
    private static final double[] HALVES = halves();

    private Dtype dtype;
    private long[] shape;
    private boolean channelsFirst;
    private Object[] values;

    private PlainTransform(Dtype dtype, long[] shape, byte[] stored) {
        this.dtype = dtype;
        this.shape = shape;
        this.values = decode(stored);
    }

    static byte[] apply(Transform transform, Dtype dtype, long[] shape, byte[] stored, int[] parameters) {
        PlainTransform plain = new PlainTransform(dtype, shape, stored);
        int next = 0;
        for (Step step : transform.steps()) {
            next += plain.step(step, parameters, next);
        }
        return plain.encode();
    }

    private int step(Step step, int[] parameters, int next) {
        if (step instanceof Step.RandomCrop crop) {
            int y = parameters[next] - crop.padding();
            crop(crop.height(), crop.width(), y, parameters[next + 1] - crop.padding());
            return 2;
        } else if (step instanceof Step.RandomFlip) {
            if (parameters[next] == 1) {
                flip();
            }
            return 1;
        } else if (step instanceof Step.CenterCrop crop) {
            int y = ((int) shape[axis(0)] - crop.height()) / 2;
            crop(crop.height(), crop.width(), y, ((int) shape[axis(1)] - crop.width()) / 2);
        } else if (step instanceof Step.Flip) {
            flip();
        } else if (step instanceof Step.ChannelsFirst) {
            channelsFirst();
        } else {
            numeric(step);
        }
        return 0;
    }

    private void numeric(Step step) {
        if (step instanceof Step.Cast cast) {
            castTo(cast.dtype());
        } else if (step instanceof Step.ToFloat) {
            boolean bytes = NumberType.of(dtype) == NumberType.UINT8;
            castTo(Dtype.parse("<f4"));
            for (int i = 0; bytes && i < values.length; i++) {
                values[i] = (float) values[i] / 255f;
            }
        } else if (step instanceof Step.Scale scale) {
            castTo(Dtype.parse("<f4"));
            for (int i = 0; i < values.length; i++) {
                float product = (float) values[i] * scale.factor();
                values[i] = product + scale.offset();
            }
        } else if (step instanceof Step.Normalize normalize) {
            castTo(Dtype.parse("<f4"));
            for (int i = 0; i < values.length; i++) {
                int channel = normalize.means().size() == 1 ? 0 : channel(i);
                float inverse = 1f / normalize.deviations().get(channel);
                float difference = (float) values[i] - normalize.means().get(channel);
                values[i] = difference * inverse;
            }
        } else if (step instanceof Step.ToBfloat16) {
            toBfloat16();
        } else if (step instanceof Step.FromBfloat16) {
            for (int i = 0; i < values.length; i++) {
                values[i] = Float.intBitsToFloat(((BigInteger) values[i]).intValue() << 16);
            }
            dtype = Dtype.parse("<f4");
        } else {
            oneHot(((Step.OneHot) step).classes());
        }
    }

    /** Takes the nearer of the two neighbours that have but the upper 16 bits, the even one of equally near ones. */
    private void toBfloat16() {
        castTo(Dtype.parse("<f4"));
        for (int i = 0; i < values.length; i++) {
            float value = (float) values[i];
            int below = Float.floatToRawIntBits(value) >>> 16;
            float rest = value - Float.intBitsToFloat(below << 16);
            float whole = Float.intBitsToFloat((below << 16) + 0x8000) - Float.intBitsToFloat(below << 16);
            boolean up = Math.abs(rest) > Math.abs(whole) || (rest == whole && (below & 1) == 1);
            int bits = Float.isNaN(value) ? below | 0x40 : Float.isInfinite(value) || !up ? below : below + 1;
            values[i] = BigInteger.valueOf(bits);
        }
        dtype = Dtype.parse("<u2");
    }

    private int axis(int rowOrColumn) {
        return channelsFirst ? rowOrColumn + 1 : rowOrColumn;
    }

    private int channel(int element) {
        if (shape.length == 1) {
            return element;
        }
        return (int) (channelsFirst ? element / (shape[1] * shape[2]) : element % shape[2]);
    }

    private void crop(int height, int width, int top, int left) {
        long[] to = shape.clone();
        to[axis(0)] = height;
        to[axis(1)] = width;
        remap(to, top, left, 1);
    }

    private void flip() {
        remap(shape.clone(), 0, (int) shape[axis(1)] - 1, -1);
    }

    private void remap(long[] to, int top, int left, int direction) {
        int channels = shape.length == 2 ? 1 : (int) shape[channelsFirst ? 0 : 2];
        int height = (int) to[axis(0)];
        int width = (int) to[axis(1)];
        Object[] moved = new Object[channels * height * width];
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                for (int c = 0; c < channels; c++) {
                    moved[place(y, x, c, height, width, channels)] = at(y + top, direction * x + left, c, channels);
                }
            }
        }
        shape = to;
        values = moved;
    }

    private Object at(int y, int x, int channel, int channels) {
        int height = (int) shape[axis(0)];
        int width = (int) shape[axis(1)];
        boolean inside = y >= 0 && y < height && x >= 0 && x < width;
        return inside ? values[place(y, x, channel, height, width, channels)] : zero();
    }

    private int place(int y, int x, int channel, int height, int width, int channels) {
        return channelsFirst ? (channel * height + y) * width + x : (y * width + x) * channels + channel;
    }

    private Object zero() {
        return convert(BigInteger.ZERO, dtype);
    }

    private void channelsFirst() {
        int channels = shape.length == 2 ? 1 : (int) shape[2];
        int height = (int) shape[0];
        int width = (int) shape[1];
        Object[] moved = new Object[values.length];
        for (int i = 0; i < moved.length; i++) {
            moved[i % channels * height * width + i / channels] = values[i];
        }
        values = moved;
        shape = new long[] {channels, height, width};
        channelsFirst = true;
    }

    private void oneHot(int classes) {
        Object[] vectors = new Object[values.length * classes];
        for (int i = 0; i < vectors.length; i++) {
            vectors[i] = values[i / classes].equals(BigInteger.valueOf(i % classes)) ? 1f : 0f;
        }
        values = vectors;
        shape = Arrays.copyOf(shape, shape.length + 1);
        shape[shape.length - 1] = classes;
        dtype = Dtype.parse("<f4");
    }

    private void castTo(Dtype to) {
        for (int i = 0; i < values.length; i++) {
            values[i] = convert(values[i], to);
        }
        dtype = to;
    }

    private static Object convert(Object value, Dtype to) {
        NumberType type = NumberType.of(to);
        if (type == NumberType.BOOL) {
            return value.equals(BigInteger.ZERO)
                            || (!(value instanceof BigInteger) && ((Number) value).doubleValue() == 0)
                    ? BigInteger.ZERO
                    : BigInteger.ONE;
        }
        return switch (to.kind()) {
            case FLOAT -> toFloat((Number) value, type);
            default ->
                value instanceof BigInteger integer ? wrap(integer, to) : saturate(((Number) value).doubleValue(), to);
        };
    }

    private static Object toFloat(Number value, NumberType type) {
        return switch (type) {
            case FLOAT64 -> value.doubleValue();
            case FLOAT32 -> value.floatValue();
            default ->
                value instanceof Float single && single.isNaN()
                        ? single
                        : nearestHalf(value.doubleValue()); // a double has other NaNs
        };
    }

    private static BigInteger wrap(BigInteger value, Dtype to) {
        BigInteger modulus = BigInteger.ONE.shiftLeft(8 * to.itemSize());
        BigInteger rest = value.mod(modulus);
        return to.descr().charAt(1) == 'i' && rest.testBit(8 * to.itemSize() - 1) ? rest.subtract(modulus) : rest;
    }

    private static BigInteger saturate(double value, Dtype to) {
        boolean signed = to.descr().charAt(1) == 'i';
        int bits = 8 * to.itemSize() - (signed ? 1 : 0);
        BigInteger largest = BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
        BigInteger smallest = signed ? largest.negate().subtract(BigInteger.ONE) : BigInteger.ZERO;
        if (Double.isNaN(value)) {
            return BigInteger.ZERO;
        } else if (Double.isInfinite(value)) {
            return value > 0 ? largest : smallest;
        }
        return new BigDecimal(value).toBigInteger().max(smallest).min(largest);
    }

    private static double[] halves() {
        double[] halves = new double[0x7c00 + 1];
        for (int i = 0; i < 0x7c00; i++) {
            double fraction = (i & 0x3ff) / 1024.0;
            halves[i] = i < 0x400 ? fraction * 0x1p-14 : (1 + fraction) * Math.pow(2, (i >> 10) - 15);
        }
        halves[0x7c00] = 65536; // where the next number would be; it stands for infinity
        return halves;
    }

    private static float nearestHalf(double value) {
        double size = Math.abs(value);
        if (Double.isNaN(value) || size >= 65536) {
            return (float) (Double.isNaN(value) ? value : Math.copySign(Double.POSITIVE_INFINITY, value));
        }
        int place = Arrays.binarySearch(HALVES, size);
        if (place < 0) {
            int above = -place - 1;
            double toAbove = HALVES[above] - size;
            double toBelow = size - HALVES[above - 1];
            boolean up = toAbove < toBelow || (toAbove == toBelow && above % 2 == 0);
            place = up ? above : above - 1;
        }
        double half = place == 0x7c00 ? Double.POSITIVE_INFINITY : HALVES[place];
        return (float) Math.copySign(half, value);
    }

    private Object[] decode(byte[] stored) {
        ByteBuffer bytes = ByteBuffer.wrap(stored).order(dtype.byteOrder());
        Object[] decoded = new Object[stored.length / dtype.itemSize()];
        for (int i = 0; i < decoded.length; i++) {
            decoded[i] = switch (NumberType.of(dtype)) {
                case BOOL -> BigInteger.valueOf(bytes.get() == 0 ? 0 : 1);
                case INT8 -> BigInteger.valueOf(bytes.get());
                case INT16 -> BigInteger.valueOf(bytes.getShort());
                case INT32 -> BigInteger.valueOf(bytes.getInt());
                case INT64 -> BigInteger.valueOf(bytes.getLong());
                case UINT8 -> BigInteger.valueOf(bytes.get() & 0xff);
                case UINT16 -> BigInteger.valueOf(bytes.getShort() & 0xffff);
                case UINT32 -> BigInteger.valueOf(bytes.getInt() & 0xffff_ffffL);
                case UINT64 -> new BigInteger(Long.toUnsignedString(bytes.getLong()));
                case FLOAT16 -> Half.toFloat(bytes.getShort());
                case FLOAT32 -> bytes.getFloat();
                case FLOAT64 -> bytes.getDouble();
            };
        }
        return decoded;
    }

    private byte[] encode() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Object value : values) {
            ByteBuffer element = ByteBuffer.allocate(dtype.itemSize()).order(dtype.byteOrder());
            Number number = (Number) value;
            switch (NumberType.of(dtype)) {
                case BOOL, INT8, UINT8 -> element.put(number.byteValue());
                case INT16, UINT16 -> element.putShort(number.shortValue());
                case INT32, UINT32 -> element.putInt(number.intValue());
                case INT64, UINT64 -> element.putLong(number.longValue());
                case FLOAT16 -> element.putShort((short) Half.ofFloat(number.floatValue()));
                case FLOAT32 -> element.putFloat(number.floatValue());
                case FLOAT64 -> element.putDouble(number.doubleValue());
            }
            out.writeBytes(element.array());
        }
        return out.toByteArray();
    }
}
