package dev.larder.readers.zarr;

import com.google.gson.JsonElement;
import dev.larder.reader.BadSource;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Reads the metadata of an array. Refuses unknown members, because they may change the meaning of the rest. */
final class MetadataParser {
    private static final Set<String> MEMBERS = Set.of(
            "zarr_format",
            "node_type",
            "shape",
            "data_type",
            "chunk_grid",
            "chunk_key_encoding",
            "fill_value",
            "codecs",
            "attributes",
            "storage_transformers",
            "dimension_names");

    /** Codecs that lose digits when they write, and change nothing when they read. */
    private static final Set<String> ROUNDING = Set.of("bitround");

    private static final String KNOWN = Unpackers.KNOWN + "; transpose, sharding_indexed (alone)";
    private static final String SHARDS = "sharding_indexed";
    private static final int MOST_DIMENSIONS = 32;
    private static final int MOST_CODECS = 16;
    private static final int MOST_CHUNKS_OF_SHARD = 1 << 22;
    private static final Element INDEX = new Element("<u8", Long.BYTES, Long.BYTES);

    private final Fields fields;
    private final Place place;
    private final long[] shape;

    private MetadataParser(Fields fields) throws BadSource {
        this.fields = fields;
        this.place = fields.place();
        this.shape = fields.lengths("shape");
        if (shape.length > MOST_DIMENSIONS) {
            throw place.unfit("it has " + shape.length + " dimensions, more than " + MOST_DIMENSIONS);
        }
    }

    /** Reads {@code .zarray}. */
    static ArrayMetadata version2(Fields fields) throws BadSource {
        return new MetadataParser(fields).version2();
    }

    /** Reads {@code zarr.json}. */
    static ArrayMetadata version3(Fields fields) throws BadSource {
        return new MetadataParser(fields).version3();
    }

    private ArrayMetadata version2() throws BadSource {
        List<JsonElement> filters = fields.list("filters");
        Element ofAnyLength = filters.isEmpty() ? null : Element.ofCodec(idOf(filters.get(0), "filters"));
        Element element = ofAnyLength == null ? Element.described(fields.value("dtype"), place) : ofAnyLength;
        long[] chunk = chunk(fields, "chunks");
        List<Unpacker> unpackers = new ArrayList<>();
        for (JsonElement filter : filters.subList(ofAnyLength == null ? 0 : 1, filters.size())) {
            add(unpackers, idOf(filter, "filters"), filter);
        }
        JsonElement compressor = fields.find("compressor");
        if (compressor != null) {
            add(unpackers, idOf(compressor, "compressor"), compressor);
        }
        String order = fields.text("order");
        if (!order.equals("C") && !order.equals("F")) {
            throw place.damaged("its metadata has no valid order: found=" + order);
        }
        int[] axes = axes();
        if (order.equals("F")) {
            axes = Arrays.stream(axes).map(axis -> shape.length - 1 - axis).toArray();
        }
        return array(
                element,
                new ChunkKeys("", separator(fields, "dimension_separator", ".")),
                new ChunkCodecs(unpackers, changed(axes), 1, lengths(chunk), element.byteSize()),
                null);
    }

    private ArrayMetadata version3() throws BadSource {
        fields.requireOnly(MEMBERS);
        Element element = Element.named(fields.value("data_type"), place);
        Fields grid = fields.named(fields.value("chunk_grid"), "chunk_grid");
        if (!grid.text("name").equals("regular")) {
            throw place.unfit("its chunk grid is not regular: name=" + grid.text("name"));
        } else if (!fields.list("storage_transformers").isEmpty()) {
            throw place.unfit("it has storage transformers");
        }
        long[] chunk = chunk(grid.object("configuration"), "chunk_shape");
        ChunkKeys keys = keys();
        List<JsonElement> codecs = fields.list("codecs");
        if (codecs.size() == 1) {
            Fields only = fields.named(codecs.get(0), "codecs");
            if (only.text("name").equals(SHARDS)) {
                return sharded(element, chunk, keys, only.object("configuration"));
            }
        }
        return array(element, keys, codecs(codecs, element, chunk), null);
    }

    private ChunkKeys keys() throws BadSource {
        Fields encoding = fields.named(fields.value("chunk_key_encoding"), "chunk_key_encoding");
        Fields configuration = encoding.object("configuration");
        return switch (encoding.text("name")) {
            case "default" -> new ChunkKeys("c", separator(configuration, "separator", "/"));
            case "v2" -> new ChunkKeys("", separator(configuration, "separator", "."));
            default -> throw place.unfit("its chunks have keys of an unknown kind: name=" + encoding.text("name"));
        };
    }

    private ChunkCodecs codecs(List<JsonElement> list, Element element, long[] chunk) throws BadSource {
        List<Unpacker> unpackers = new ArrayList<>();
        int[] axes = axes();
        int turnedBytes = 0; // until the codec that makes bytes of elements
        boolean hasDelta = false;
        for (JsonElement each : list) {
            Fields codec = fields.named(each, "codecs");
            String name = codec.text("name").replaceFirst("^numcodecs[.]", "");
            Fields configuration = codec.object("configuration");
            if (turnedBytes > 0) {
                add(unpackers, name, configuration);
            } else if (name.equals("delta")) {
                hasDelta = true;
                add(unpackers, name, configuration);
            } else if (name.equals("transpose")) {
                axes = transposed(axes, configuration);
            } else if (element.hasAnyLength() && element.equals(Element.ofCodec(name))) {
                turnedBytes = 1;
            } else if (name.equals("bytes") && !element.hasAnyLength()) {
                turnedBytes = turnedBytes(configuration, element);
            } else if (!ROUNDING.contains(name)) {
                throw place.unfit("a codec of its chunks is not available: name=" + name + " known=" + KNOWN);
            }
        }
        if (turnedBytes == 0) {
            throw place.damaged("its codecs make no bytes of its elements");
        } else if (hasDelta && (turnedBytes > 1 || changed(axes) != null)) {
            throw place.unfit("its codec delta comes with another order of bytes or dimensions");
        }
        return new ChunkCodecs(unpackers, changed(axes), turnedBytes, lengths(chunk), element.byteSize());
    }

    private int turnedBytes(Fields configuration, Element element) throws BadSource {
        boolean isStructured = element.unitBytes() == 0;
        if (element.unitBytes() == 1 || (isStructured && configuration.find("endian") == null)) {
            return 1;
        }
        return switch (configuration.text("endian")) {
            case "little" -> 1;
            case "big" -> {
                if (isStructured) {
                    throw place.unfit("its type is not one that is read: big-endian " + element.dtype());
                }
                yield element.unitBytes();
            }
            default -> throw place.damaged("its metadata has no valid endian: found=" + configuration.text("endian"));
        };
    }

    private int[] axes() {
        return IntStream.range(0, shape.length).toArray();
    }

    private int[] transposed(int[] axes, Fields configuration) throws BadSource {
        long[] order = configuration.lengths("order");
        if (!Arrays.equals(
                Arrays.stream(order).sorted().toArray(),
                LongStream.range(0, axes.length).toArray())) {
            throw place.damaged("its metadata has no valid order: found=" + Arrays.toString(order));
        }
        return Arrays.stream(order).mapToInt(axis -> axes[(int) axis]).toArray();
    }

    private ArrayMetadata sharded(Element element, long[] shard, ChunkKeys keys, Fields configuration)
            throws BadSource {
        long[] chunk = chunk(configuration, "chunk_shape");
        long[] counts = new long[chunk.length];
        long count = 1;
        for (int axis = 0; axis < chunk.length; axis++) {
            boolean fits = chunk[axis] > 0 && shard[axis] % chunk[axis] == 0;
            counts[axis] = fits ? shard[axis] / chunk[axis] : 0;
            count = Math.min(MOST_CHUNKS_OF_SHARD + 1L, count * Math.min(MOST_CHUNKS_OF_SHARD + 1L, counts[axis]));
            if (!fits) {
                throw place.damaged("its shards have the shape " + Arrays.toString(shard) + ", and their chunks "
                        + Arrays.toString(chunk));
            }
        }
        if (count > MOST_CHUNKS_OF_SHARD) {
            throw place.unfit("its shards have more than " + MOST_CHUNKS_OF_SHARD + " chunks each");
        }
        List<JsonElement> indexCodecs = configuration.list("index_codecs");
        int indexBytes = (int) count * ShardFiles.ENTRY_BYTES;
        for (JsonElement each : indexCodecs) {
            String name = fields.named(each, "index_codecs").text("name");
            indexBytes += name.equals("crc32c") ? Integer.BYTES : 0;
            if (!name.equals("crc32c") && !name.equals("bytes")) {
                throw place.unfit("a codec of its shards' indexes is not available: name=" + name);
            }
        }
        ChunkCodecs index = codecs(indexCodecs, INDEX, new long[] {count, 2});
        ByteOrder order = index.turnedBytes() == 1 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        String location = configuration.text("index_location", "end");
        if (!location.equals("end") && !location.equals("start")) {
            throw place.damaged("its metadata has no valid index_location: found=" + location);
        }
        return array(
                element,
                keys,
                codecs(configuration.list("codecs"), element, chunk),
                new ShardFiles(counts, index.unpackers(), indexBytes, order, location.equals("end")));
    }

    private ArrayMetadata array(Element element, ChunkKeys keys, ChunkCodecs codecs, @Nullable ShardFiles shards)
            throws BadSource {
        long elements = 1;
        for (int length : codecs.chunk()) {
            elements = Math.min(Integer.MAX_VALUE + 1L, elements * length);
        }
        if (element.hasAnyLength() && elements > Integer.MAX_VALUE) {
            throw place.unfit("its chunks are too long: shape=" + Arrays.toString(codecs.chunk()));
        }
        byte[] fill = FillBytes.of(fields.find("fill_value"), element, place);
        return new ArrayMetadata(shape, element, fill, keys, codecs, shards);
    }

    private String idOf(JsonElement codec, String what) throws BadSource {
        if (!codec.isJsonObject()) {
            throw place.damaged("its metadata has no valid " + what + ": found=" + Fields.shown(codec));
        }
        return new Fields(codec.getAsJsonObject(), place).text("id");
    }

    private void add(List<Unpacker> unpackers, String id, JsonElement codec) throws BadSource {
        add(unpackers, id, new Fields(codec.getAsJsonObject(), place));
    }

    private void add(List<Unpacker> unpackers, String name, Fields configuration) throws BadSource {
        Unpacker unpacker = Unpackers.of(name, configuration);
        if (unpacker != null) {
            unpackers.add(unpacker);
        } else if (!ROUNDING.contains(name)) {
            throw place.unfit("a codec of its chunks is not available: name=" + name + " known=" + KNOWN);
        }
        if (unpackers.size() > MOST_CODECS) {
            throw place.unfit("it has more than " + MOST_CODECS + " codecs");
        }
    }

    /** Returns the shape of a chunk; refuses one without elements, or with other dimensions than the array. */
    private long[] chunk(Fields in, String member) throws BadSource {
        long[] chunk = in.lengths(member);
        boolean isEmpty = Arrays.stream(shape).anyMatch(length -> length == 0);
        if (chunk.length != shape.length || (!isEmpty && Arrays.stream(chunk).anyMatch(length -> length == 0))) {
            throw place.damaged(
                    "its chunks have the shape " + Arrays.toString(chunk) + ", and it has " + Arrays.toString(shape));
        }
        return chunk;
    }

    private static String separator(Fields in, String member, String orElse) throws BadSource {
        String separator = in.text(member, orElse);
        if (!separator.equals(".") && !separator.equals("/")) {
            throw in.place().damaged("its metadata has no valid " + member + ": found=" + separator);
        }
        return separator;
    }

    private int[] lengths(long[] chunk) throws BadSource {
        if (Arrays.stream(chunk).anyMatch(length -> length > Integer.MAX_VALUE)) {
            throw place.unfit("its chunks are too long: shape=" + Arrays.toString(chunk));
        }
        return Arrays.stream(chunk).mapToInt(length -> (int) length).toArray();
    }

    /** Returns an order of dimensions; null if it is the usual one. */
    private static int @Nullable [] changed(int[] axes) {
        for (int i = 0; i < axes.length; i++) {
            if (axes[i] != i) {
                return axes;
            }
        }
        return null;
    }
}
