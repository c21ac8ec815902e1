package dev.larder.readers.hdf5;

import dev.larder.reader.BadSource;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.WorkerThreads;
import io.jhdf.HdfFile;
import io.jhdf.api.Group;
import io.jhdf.api.Link;
import io.jhdf.api.Node;
import io.jhdf.api.dataset.ChunkedDataset;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.exceptions.HdfFilterException;
import io.jhdf.filter.PipelineFilterWithData;
import io.jhdf.object.datatype.VariableLength;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Some HDF5 files. Finds their datasets first; only lists and texts of any length are read for that. */
final class Hdf5Source implements OpenedSource {
    /** A chunk is there packed, unpacked, and once more for each thread. */
    private static final int HEAP_PARTS = 8;

    private static final String ELSE =
            "name the columns that are wanted with --columns, or leave the file out with --exclude";
    private static final int DEEPEST = 64;

    /** The number that The HDF Group has given to LZF; the third of its values is the size of a chunk (h5py, lzf_filter.c). */
    private static final int LZF = 32000;

    private static final int LZF_CHUNK_BYTES = 2;

    private final ReadRequest request;
    private final ReadProgress progress;
    private final List<HdfFile> files = new ArrayList<>();
    private final List<Offer> offers = new ArrayList<>();
    private final List<Written> written = new ArrayList<>();

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
                new Walk(number, input.level()).enter(file, "", 0);
            } catch (RuntimeException e) {
                throw BadSource.unreadable(number, "", e);
            }
            progress.looked(1);
        }
    }

    /** A walk through the groups of one file. */
    private final class Walk {
        private final int file;
        private final String level;
        private final Set<Long> above = new HashSet<>();

        Walk(int file, String level) {
            this.file = file;
            this.level = level;
        }

        void enter(Group group, String path, int depth) throws IOException {
            if (depth > DEEPEST || !above.add(group.getAddress())) {
                throw new BadSource(file, BadSource.NOWHERE, path, "a group contains itself, or is too deep", ELSE);
            }
            for (Node node : group.getChildren().values()) {
                String name = path + node.getName();
                if (node instanceof Link) {
                    refuseIfWanted(name, "it is a link to another place");
                } else if (node instanceof Group inner) {
                    enter(inner, name + "/", depth + 1);
                } else if (node instanceof DatasetBase dataset) {
                    if (request.wants(file, name)) {
                        add(dataset, name);
                    }
                }
            }
            above.remove(group.getAddress());
        }

        private void refuseIfWanted(String name, String reason) throws BadSource {
            if (request.wants(file, name)) {
                throw new BadSource(file, BadSource.NOWHERE, name, reason, ELSE);
            }
        }

        private void add(DatasetBase dataset, String name) throws IOException {
            try {
                int first = offers.size();
                if (dataset.getDataType() instanceof VariableLength lists) {
                    offers.addAll(new VariableRows(dataset, lists, file, name).offers(level + name, progress));
                } else {
                    offers.add(plain(dataset, name));
                }
                if (offers.get(first).file() == Offer.WRITTEN) {
                    written.add(new Written(file, name, first, dataset));
                }
            } catch (RuntimeException e) {
                throw BadSource.unreadable(file, name, e);
            }
        }

        private Offer plain(DatasetBase dataset, String name) throws BadSource {
            String dtype = NumpyTypes.of(dataset.getDataType());
            if (dtype == null) {
                throw new BadSource(
                        file,
                        BadSource.NOWHERE,
                        name,
                        "its type is not one that numpy has: "
                                + dataset.getDataType().getClass().getSimpleName() + " of "
                                + dataset.getDataType().getSize() + " bytes",
                        ELSE);
            }
            if (dataset.getSize() == 0 && dataset.getDimensions().length == 0) {
                throw new BadSource(file, BadSource.NOWHERE, name, "it has no data", ELSE);
            }
            requireFilters(dataset, name);
            List<Long> shape = new ArrayList<>();
            for (int dimension : dataset.getDimensions()) {
                if (dimension < 0) {
                    throw new BadSource(
                            file, BadSource.NOWHERE, name, "a dimension is longer than " + Integer.MAX_VALUE, ELSE);
                }
                shape.add((long) dimension);
            }
            Offer offer = Offer.array(level + name, dtype, shape);
            return dataset instanceof ContiguousDataset whole && !dataset.isEmpty() && dataset.getSize() > 0
                    ? offer.lyingIn(file, files.get(file).getUserBlockSize() + whole.getDataAddress())
                    : offer;
        }

        /** Fails, by the name of a filter, where it is not to be had. */
        private void requireFilters(DatasetBase dataset, String name) throws BadSource {
            try {
                dataset.getFilters();
            } catch (HdfFilterException e) {
                throw new BadSource(file, BadSource.NOWHERE, name, String.valueOf(e.getMessage()), ELSE);
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
            DatasetBase dataset = array.dataset;
            if (dataset.getDataType() instanceof VariableLength lists) {
                VariableRows rows = new VariableRows(dataset, lists, array.file, array.name);
                parts.add(() -> rows.write(output, array.firstOffer));
            } else {
                Chunks chunks = chunksOf(array);
                for (RowBlocks.Block block : RowBlocks.of(dataset, array.file, array.name)) {
                    parts.add(() -> RowBlocks.write(dataset, chunks, block, output, array.firstOffer));
                }
            }
        }
        WorkerThreads.runAll(request.workers(), parts);
    }

    private static @Nullable Chunks chunksOf(Written array) throws BadSource {
        try {
            if (array.dataset instanceof ChunkedDataset chunked) {
                requireRoom(array, chunked);
            }
            return array.dataset instanceof ChunkedDataset chunked && array.dataset.getSize() > 0
                    ? new Chunks(array.dataset, chunked)
                    : null;
        } catch (RuntimeException e) {
            throw BadSource.unreadable(array.file, array.name, e);
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
