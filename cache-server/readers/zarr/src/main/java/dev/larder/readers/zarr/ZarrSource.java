package dev.larder.readers.zarr;

import dev.larder.reader.BadSource;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.RefusedColumns;
import dev.larder.reader.Selection;
import dev.larder.reader.WorkerThreads;
import dev.larder.reader.chunks.ChunkGrid;
import dev.larder.reader.chunks.RowBlocks;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Zarr folders. Their metadata is read when they are opened, chunks later. */
final class ZarrSource implements OpenedSource {
    private final ReadRequest request;
    private final ReadProgress progress;
    private final Selection selection;
    private final List<Offer> offers = new ArrayList<>();
    private final List<Written> written = new ArrayList<>();
    private final Set<String> found = new LinkedHashSet<>();
    private final RefusedColumns refused = new RefusedColumns();

    /** An array to unpack, with the number of its offer. */
    private record Written(int offer, ArrayMetadata array, ChunkFiles files, Place place) {}

    ZarrSource(ReadRequest request, ReadProgress progress) {
        this.request = request;
        this.progress = progress;
        this.selection = new Selection(request.columns());
    }

    void look() throws IOException {
        Hierarchy hierarchy = Hierarchy.of(request.files(), progress);
        List<Hierarchy.Node> copies = new ArrayList<>();
        for (Hierarchy.Node node : hierarchy.nodes()) {
            try {
                look(node, hierarchy, copies);
            } catch (BadSource e) {
                refuse(node, e);
            }
            progress.looked(1);
        }
        copies.addAll(hierarchy.consolidated());
        for (Hierarchy.Node node : copies) {
            try {
                add(node, node.fields());
            } catch (BadSource e) {
                refuse(node, e);
            }
        }
        refused.requireNone(found);
    }

    private void refuse(Hierarchy.Node node, BadSource refusal) {
        if (selection.wants(node.name())) {
            refused.add(refusal);
        } else {
            refused.unwanted();
        }
    }

    private void look(Hierarchy.Node node, Hierarchy hierarchy, List<Hierarchy.Node> copies) throws BadSource {
        if (node.version() == 2) {
            add(node, node.fields());
            return;
        }
        Fields fields = node.fields();
        String type = fields.text("node_type");
        if (type.equals("group")) {
            copies.addAll(hierarchy.consolidated(node, fields));
        } else if (type.equals("array")) {
            add(node, fields);
        } else {
            throw node.place().damaged("its metadata has no valid node_type: found=" + type);
        }
    }

    private void add(Hierarchy.Node node, Fields fields) throws BadSource {
        if (!selection.wants(node.name())) {
            refused.unwanted();
            return;
        } else if (!found.add(node.name())) { // in the consolidated metadata of several groups
            return;
        }
        boolean isAdded = false;
        try {
            add(node, metadata(node, fields));
            isAdded = true;
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError e) {
            throw node.place().unreadable(e);
        } finally {
            if (!isAdded) {
                found.remove(node.name());
            }
        }
    }

    private static ArrayMetadata metadata(Hierarchy.Node node, Fields fields) throws BadSource {
        long version = fields.length("zarr_format");
        if (version != node.version()) {
            throw node.place().unfit("its metadata has another version than its name: zarr_format=" + version);
        }
        return version == 2 ? MetadataParser.version2(fields) : MetadataParser.version3(fields);
    }

    private void add(Hierarchy.Node node, ArrayMetadata array) throws BadSource {
        int mostBytes =
                Math.max(Long.BYTES, array.element().byteSize()); // those of an offset, if elements have any length
        RowBlocks.requirePossible(array.shape(), mostBytes, node.place().file(), node.name());
        if (array.element().hasAnyLength()) {
            List<Offer> column = new TextChunks(array, node.files(), node.place()).offers(node.name(), progress);
            written.add(new Written(offers.size(), array, node.files(), node.place()));
            offers.addAll(column);
            return;
        }
        List<Long> shape = Arrays.stream(array.shape()).boxed().toList();
        Offer offer = Offer.array(node.name(), array.element().dtype(), shape);
        Integer only = array.isOneFile() ? node.files().find(array.keys().of(new long[shape.size()])) : null;
        if (only != null) {
            requireLength(node.files(), only, array, node.place());
            offers.add(offer.lyingIn(only, 0));
            return;
        }
        int elementBytes = array.element().byteSize();
        long[] chunk = Arrays.stream(array.codecs().chunk()).asLongStream().toArray();
        ChunkGrid.requireFit(chunk, elementBytes, node.place().file(), node.name());
        written.add(new Written(offers.size(), array, node.files(), node.place()));
        offers.add(offer);
    }

    private static void requireLength(ChunkFiles files, int number, ArrayMetadata array, Place place) throws BadSource {
        long expected = array.element().byteSize();
        for (long length : array.shape()) {
            expected *= length;
        }
        try {
            long bytes = Files.size(files.path(number));
            if (bytes != expected) {
                throw place.in(number).damaged("its only chunk has " + bytes + " bytes, not " + expected);
            }
        } catch (BadSource e) {
            throw e;
        } catch (IOException e) {
            throw place.in(number).unreadable(e);
        }
    }

    @Override
    public List<Offer> offers() {
        return offers;
    }

    @Override
    public void read(Output output) throws IOException {
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (Written each : written) {
            ArrayMetadata array = each.array;
            if (array.element().hasAnyLength()) {
                parts.add(() -> new TextChunks(array, each.files, each.place).write(output, each.offer));
                continue;
            }
            int elementBytes = array.element().byteSize();
            long[] shape = array.rowsShape();
            int[] chunk = array.rowsChunk();
            Place place = each.place;
            List<RowBlocks.Block> blocks = RowBlocks.of(shape, elementBytes, chunk[0], place.file(), place.array());
            if (!blocks.isEmpty()) {
                ChunkGrid grid = new ChunkGrid(shape, chunk, elementBytes, array.fill());
                blocks.forEach(block -> parts.add(() -> write(each, grid, block, output)));
            }
        }
        WorkerThreads.runAll(request.workers(), parts);
    }

    private static void write(Written each, ChunkGrid grid, RowBlocks.Block block, Output output) throws IOException {
        var target = output.at(each.offer, block.position(), block.byteSize());
        ChunkReader chunks = new ChunkReader(each.array, each.files, each.place);
        long first = block.firstRow();
        grid.visit(first, block.rows(), origin -> grid.copy(origin, chunks.read(origin), first, block.rows(), target));
    }

    @Override
    public void close() {
        // files are open only while they are read
    }
}
