package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.RefusedColumns;
import dev.larder.reader.WorkerThreads;
import io.jhdf.HdfFile;
import io.jhdf.ObjectHeader;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.dataset.DatasetLoader;
import io.jhdf.exceptions.HdfFilterException;
import io.jhdf.filter.PipelineFilterWithData;
import io.jhdf.object.datatype.DataType;
import io.jhdf.object.datatype.OpaqueDataType;
import io.jhdf.object.datatype.VariableLength;
import io.jhdf.object.message.DataSpaceMessage;
import io.jhdf.object.message.DataTypeMessage;
import io.jhdf.storage.HdfBackingStorage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Some HDF5 files. Finds their datasets first; only lists and texts of any length are read for that. */
final class Hdf5Source implements OpenedSource {
    /** A chunk is there packed, unpacked, and once more for each thread. */
    private static final int HEAP_PARTS = 8;

    private static final int DEEPEST = 64;

    /** The number that The HDF Group has given to LZF; the third of its values is the size of a chunk (h5py, lzf_filter.c). */
    private static final int LZF = 32000;

    private static final int LZF_CHUNK_BYTES = 2;

    private final ReadRequest request;
    private final ReadProgress progress;
    private final List<HdfFile> files = new ArrayList<>();
    private final List<Offer> offers = new ArrayList<>();
    private final List<Written> written = new ArrayList<>();
    private final Set<String> found = new LinkedHashSet<>();
    private final RefusedColumns refused = new RefusedColumns();

    /** A dataset whose arrays have to be written, from this offer on. */
    private record Written(int file, String name, int firstOffer, DatasetBase dataset) {}

    Hdf5Source(ReadRequest request, ReadProgress progress) {
        this.request = request;
        this.progress = progress;
    }

    void look() throws IOException {
        for (int number = 0; number < request.files().size(); number++) {
            InputFile input = request.files().get(number);
            try {
                HdfFile file = BoundedFile.open(input.path());
                files.add(file);
                ObjectHeader root = ObjectHeader.readObjectHeader(file.getHdfBackingStorage(), file.getAddress());
                new Walk(number, input.level(), file).enter(root, "", 0);
            } catch (RuntimeException | StackOverflowError e) {
                throw Unreadable.of(number, "", e);
            }
            progress.looked(1);
        }
        refused.requireNone(found);
    }

    /** A walk through the groups of one file. What cannot be read is refused where it is wanted, and else left out. */
    private final class Walk {
        private final int number;
        private final String level;
        private final HdfFile file;
        private final HdfBackingStorage storage;
        private final Set<Long> above = new HashSet<>();

        Walk(int number, String level, HdfFile file) {
            this.number = number;
            this.level = level;
            this.file = file;
            this.storage = file.getHdfBackingStorage();
        }

        void enter(ObjectHeader group, String path, int depth) throws IOException {
            above.add(group.getAddress());
            try {
                for (GroupMembers.Member member : GroupMembers.of(storage, group)) {
                    take(member, path + member.name(), depth);
                }
            } finally {
                above.remove(group.getAddress());
            }
        }

        private void take(GroupMembers.Member member, String name, int depth) throws IOException {
            if (member.isLink()) {
                refuseIfWanted(name, "it is a link to another place");
            } else if (above.contains(member.address()) || depth == DEEPEST) {
                refuseIfWanted(name, "a group contains itself, or is too deep");
            } else {
                try {
                    look(member, name, depth);
                } catch (RuntimeException | StackOverflowError e) {
                    if (request.wants(number, name)) {
                        refused.add(Unreadable.of(number, name, e));
                    }
                }
            }
        }

        private void look(GroupMembers.Member member, String name, int depth) throws IOException {
            ObjectHeader header = ObjectHeader.readObjectHeader(storage, member.address());
            if (header.hasMessageOfType(DataSpaceMessage.class)) {
                if (request.wants(number, name)
                        && DatasetLoader.createDataset(storage, header, name, file) instanceof DatasetBase dataset) {
                    add(dataset, name);
                }
            } else if (!header.hasMessageOfType(DataTypeMessage.class)) {
                enter(header, name + "/", depth + 1);
            }
        }

        private void refuseIfWanted(String name, String reason) {
            if (request.wants(number, name)) {
                refused.add(number, name, reason);
            }
        }

        private void add(DatasetBase dataset, String name) throws IOException {
            int first = offers.size();
            try {
                if (dataset.getDataType() instanceof VariableLength lists) {
                    offers.addAll(new VariableRows(dataset, lists, number, name).offers(level + name, progress));
                } else {
                    offers.add(plain(dataset, name));
                }
            } catch (BadSource e) {
                refused.add(e);
                return;
            }
            found.add(name);
            if (offers.get(first).file() == Offer.WRITTEN) {
                written.add(new Written(number, name, first, dataset));
            }
        }

        private BadSource unfit(String name, String reason) {
            return new BadSource(number, BadSource.NOWHERE, name, reason, "");
        }

        private Offer plain(DatasetBase dataset, String name) throws BadSource {
            DataType type = dataset.getDataType();
            String dtype = NumpyTypes.of(type);
            if (dtype == null) {
                throw unfit(
                        name,
                        "its type is not one that numpy has: "
                                + (type instanceof OpaqueDataType
                                        ? "opaque data"
                                        : type.getClass().getSimpleName())
                                + " of " + type.getSize() + " bytes");
            }
            if (dataset.getSize() == 0 && dataset.getDimensions().length == 0) {
                throw unfit(name, "it has no data");
            }
            requireFilters(dataset, name);
            List<Long> shape = new ArrayList<>();
            for (int dimension : dataset.getDimensions()) {
                if (dimension < 0) {
                    throw unfit(name, "a dimension is longer than " + Integer.MAX_VALUE);
                }
                shape.add((long) dimension);
            }
            Offer offer = Offer.array(level + name, dtype, shape);
            return dataset instanceof ContiguousDataset whole && !dataset.isEmpty() && dataset.getSize() > 0
                    ? offer.lyingIn(number, file.getUserBlockSize() + whole.getDataAddress())
                    : offer;
        }

        /** Fails, by the name of a filter, where it is not to be had. */
        private void requireFilters(DatasetBase dataset, String name) throws BadSource {
            try {
                dataset.getFilters();
            } catch (HdfFilterException e) {
                throw unfit(name, String.valueOf(e.getMessage()));
            }
        }
    }

    @Override
    public List<Offer> offers() {
        return offers;
    }

    @Override
    public void read(Output output) throws IOException {
        List<WorkerThreads.Part> parts = new ArrayList<>();
        for (Written array : written) {
            try {
                addParts(array, output, parts);
            } catch (RuntimeException | StackOverflowError e) {
                throw Unreadable.of(array.file, array.name, e);
            }
        }
        WorkerThreads.runAll(request.workers(), parts);
    }

    private static void addParts(Written array, Output output, List<WorkerThreads.Part> parts) throws BadSource {
        DatasetBase dataset = array.dataset;
        if (dataset.getDataType() instanceof VariableLength lists) {
            VariableRows rows = new VariableRows(dataset, lists, array.file, array.name);
            parts.add(() -> rows.write(output, array.firstOffer));
            return;
        }
        Chunks chunks = chunksOf(array);
        for (RowBlocks.Block block : RowBlocks.of(dataset, array.file, array.name)) {
            parts.add(() -> RowBlocks.write(dataset, chunks, block, output, array.firstOffer));
        }
    }

    private static @Nullable Chunks chunksOf(Written array) throws BadSource {
        if (!(array.dataset instanceof ChunkedDataset chunked)) {
            return null;
        }
        requireShape(array, chunked);
        requireRoom(array, chunked);
        return array.dataset.getSize() > 0 ? new Chunks(array.dataset, chunked) : null;
    }

    /** Refuses chunks that have no elements, or other dimensions than their dataset. */
    private static void requireShape(Written array, ChunkedDataset chunked) throws BadSource {
        int[] shape = array.dataset.getDimensions();
        int[] chunk = chunked.getChunkDimensions();
        if (chunk.length != shape.length || IntStream.of(chunk).anyMatch(dimension -> dimension <= 0)) {
            throw BadSource.damaged(
                    array.file,
                    BadSource.NOWHERE,
                    array.name,
                    "its chunks have the shape " + Arrays.toString(chunk) + ", and it has " + Arrays.toString(shape));
        }
    }

    /** Refuses chunks that would fill the heap, whether they are so large or a damaged file says so. */
    private static void requireRoom(Written array, ChunkedDataset chunked) throws BadSource {
        long bytes = Math.max(1, array.dataset.getDataType().getSize());
        for (int dimension : chunked.getChunkDimensions()) {
            bytes = dimension > 0 && bytes > Long.MAX_VALUE / dimension ? Long.MAX_VALUE : bytes * dimension;
        }
        long most = Runtime.getRuntime().maxMemory() / HEAP_PARTS;
        if (bytes > most) {
            throw new BadSource(
                    array.file,
                    BadSource.NOWHERE,
                    array.name,
                    "its chunks have " + bytes + " bytes each, more than " + most + " that the reader's heap allows",
                    "restart the daemon with a larger LARDER_READER_HEAP, or store it in smaller chunks");
        }
        for (PipelineFilterWithData filter : array.dataset.getFilters()) {
            if (filter.getId() == LZF) {
                requireUnpackedBytes(array, filter.getFilterData(), bytes);
            }
        }
    }

    /** Refuses LZF that says another size than that of a chunk: the library believes it, and takes so much memory. */
    private static void requireUnpackedBytes(Written array, int[] filterData, long bytes) throws BadSource {
        if (filterData.length <= LZF_CHUNK_BYTES || filterData[LZF_CHUNK_BYTES] != bytes) {
            throw new BadSource(
                    array.file,
                    BadSource.NOWHERE,
                    array.name,
                    "its LZF filter unpacks to another size than that of a chunk, " + bytes + " bytes: "
                            + Arrays.toString(filterData),
                    "get the file again, or leave it out with --exclude");
        }
    }

    @Override
    public void close() {
        files.forEach(file -> file.getHdfBackingStorage().close()); // the library would ask for its name first
    }
}
