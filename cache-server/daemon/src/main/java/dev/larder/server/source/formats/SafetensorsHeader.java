package dev.larder.server.source.formats;

import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.reader.Selection;
import dev.larder.server.source.Refusal;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the JSON at the beginning of a safetensors file, entry by entry. */
final class SafetensorsHeader {
    private static final String METADATA = "__metadata__";
    private static final NpyHeader NONE = NpyHeader.of(Dtype.parse("|u1"), Order.C, 0);

    private final Path file;

    SafetensorsHeader(Path file) {
        this.file = file;
    }

    /**
     * One entry.
     *
     * @param header the type and shape; without elements if the entry has a refusal
     * @param refusal the reason why it cannot be loaded; null if it can
     * @param begin the offset of its data, from the end of the header
     * @param end the offset of the end of its data
     */
    record Tensor(String name, NpyHeader header, @Nullable LarderException refusal, long begin, long end) {
        String arrayName() {
            return Selection.storedName(name);
        }
    }

    List<Tensor> parse(byte[] json) throws IOException {
        List<Tensor> tensors = new ArrayList<>();
        Set<String> names = new HashSet<>();
        var text = new InputStreamReader(new ByteArrayInputStream(json), StandardCharsets.UTF_8.newDecoder());
        try (JsonReader in = new JsonReader(text)) {
            in.setStrictness(Strictness.STRICT);
            in.beginObject();
            while (in.hasNext()) {
                String name = in.nextName();
                if (!names.add(name)) {
                    throw refusal(name, "the file has it twice");
                } else if (name.equals(METADATA)) {
                    in.skipValue();
                } else {
                    tensors.add(tensor(in, name));
                }
            }
            in.endObject();
            if (in.peek() != JsonToken.END_DOCUMENT) {
                throw Refusal.of(file, Long.BYTES, "something follows the JSON of its header");
            }
        }
        return tensors;
    }

    private Tensor tensor(JsonReader in, String name) throws IOException {
        String dtype = null;
        long[] shape = null;
        long[] offsets = null;
        in.beginObject();
        while (in.hasNext()) {
            String key = in.nextName();
            if (key.equals("dtype") && dtype == null) {
                dtype = in.nextString();
            } else if (key.equals("shape") && shape == null) {
                shape = numbers(in, name);
            } else if (key.equals("data_offsets") && offsets == null) {
                offsets = numbers(in, name);
            } else {
                throw refusal(name, "only dtype, shape and data_offsets are allowed there, each once");
            }
        }
        in.endObject();
        if (dtype == null || shape == null || offsets == null || offsets.length != 2) {
            throw refusal(name, "dtype, shape or data_offsets is missing or incomplete");
        }
        try {
            return new Tensor(name, header(name, dtype, shape), null, offsets[0], offsets[1]);
        } catch (LarderException e) { // which matters only to those who want this one
            return new Tensor(name, NONE, e, offsets[0], offsets[1]);
        }
    }

    private long[] numbers(JsonReader in, String name) throws IOException {
        List<Long> numbers = new ArrayList<>();
        in.beginArray();
        while (in.hasNext()) {
            if (in.peek() != JsonToken.NUMBER || numbers.size() > NpyHeader.MAX_DIMENSIONS) {
                throw refusal(name, "it has too many dimensions, or one that is not a number");
            }
            numbers.add(in.nextLong());
        }
        in.endArray();
        return numbers.stream().mapToLong(n -> n).toArray();
    }

    private NpyHeader header(String name, String dtype, long[] shape) {
        String descr = descr(dtype);
        if (descr == null) {
            throw refusal(
                    name, "its dtype " + Names.printable(dtype) + " is unknown, or its elements are not whole bytes");
        }
        try {
            return NpyHeader.of(Dtype.parse(descr), Order.C, shape);
        } catch (LarderException e) {
            throw refusal(name, "no array can have its shape");
        }
    }

    /** Types that numpy lacks become unsigned integers of the same bits. */
    private static @Nullable String descr(String dtype) {
        return switch (dtype) {
            case "BOOL" -> "|b1";
            case "I8" -> "|i1";
            case "U8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ" -> "|u1";
            case "I16" -> "<i2";
            case "U16", "BF16" -> "<u2";
            case "F16" -> "<f2";
            case "I32" -> "<i4";
            case "U32" -> "<u4";
            case "F32" -> "<f4";
            case "I64" -> "<i8";
            case "U64" -> "<u8";
            case "F64" -> "<f8";
            case "C64" -> "<c8";
            default -> null;
        };
    }

    private LarderException refusal(String name, String reason) {
        return Refusal.of(file, Long.BYTES, "tensor " + Names.printable(name) + ": " + reason);
    }
}
