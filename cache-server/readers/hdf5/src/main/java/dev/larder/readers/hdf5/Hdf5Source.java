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
import dev.larder.reader.chunks.RowBlocks;
import io.jhdf.HdfFile;
import io.jhdf.ObjectHeader;
import io.jhdf.api.dataset.ContiguousDataset;
import io.jhdf.dataset.DatasetBase;
import io.jhdf.dataset.DatasetLoader;
import io.jhdf.object.datatype.DataType;
import io.jhdf.object.datatype.VariableLength;
import io.jhdf.object.message.DataSpaceMessage;
import io.jhdf.object.message.DataTypeMessage;
import io.jhdf.object.message.FilterPipelineMessage;
import io.jhdf.storage.HdfBackingStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** HDF5 files. Finds their datasets first; reads only lists and texts of any length for that. */
final class Hdf5Source implements OpenedSource {
    private static final int DEEPEST = 64;

    /** The offset of the version in a superblock; since version 3 it also has flags of programs that write to the file. */
    private static final int SUPERBLOCK_VERSION = 8;

    private static final int SUPERBLOCK_FLAGS = 11;
    private static final int SUPERBLOCK_BYTES = 12;
    private static final int FLAGS_SINCE = 3;
    private static final int IS_WRITTEN = 1 | 1 << 2;

    private final ReadRequest request;
    private final ReadProgress progress;
    private final List<HdfFile> files = new ArrayList<>();
    private final List<Offer> offers = new ArrayList<>();
    private final List<Written> written = new ArrayList<>();
    private final Set<String> found = new LinkedHashSet<>();
    private final RefusedColumns refused = new RefusedColumns();

    /** A dataset to decode, with the number of its first offer. */
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
                requireNoWriter(number, file);
                new Walk(number, input.level(), file).enter(file.getAddress(), "", 0);
            } catch (RuntimeException | StackOverflowError e) {
                throw Unreadable.of(number, "", e);
            }
            progress.looked(1);
        }
        refused.requireNone(found);
    }

    /** Refuses a file that a program still writes, because its parts may contradict each other. */
    private static void requireNoWriter(int number, HdfFile file) throws BadSource {
        HdfBackingStorage storage = file.getHdfBackingStorage();
        ByteBuffer head = storage.mapNoOffset(file.getUserBlockSize(), SUPERBLOCK_BYTES);
        if (head.get(SUPERBLOCK_VERSION) >= FLAGS_SINCE && (head.get(SUPERBLOCK_FLAGS) & IS_WRITTEN) != 0) {
            throw new BadSource(
                    number,
                    BadSource.NOWHERE,
                    "",
                    "it is open for writing: flags=" + head.get(SUPERBLOCK_FLAGS),
                    "wait until its writer has closed it; if no program has it open, clear the flag: h5clear -s FILE");
        }
    }

    /** A walk through the groups of one file. Refuses an unreadable member if it is wanted, and skips it otherwise. */
    private final class Walk {
        private final int number;
        private final String level;
        private final HdfFile file;
        private final HdfBackingStorage storage;
        private final SoftLinks links;
        private final Set<Long> above = new HashSet<>();

        Walk(int number, String level, HdfFile file) {
            this.number = number;
            this.level = level;
            this.file = file;
            this.storage = file.getHdfBackingStorage();
            this.links = new SoftLinks(storage, file.getAddress());
        }

        void enter(long group, String path, int depth) throws IOException {
            above.add(group);
            try {
                for (GroupMembers.Member member : links.members(group).values()) {
                    take(group, member, path + member.name(), depth);
                }
            } finally {
                above.remove(group);
            }
        }

        private void take(long group, GroupMembers.Member link, String name, int depth) throws IOException {
            try {
                GroupMembers.Member member = links.followed(group, link);
                if (member.link() != null) {
                    refuseIfWanted(name, "it is " + member.link());
                } else if (above.contains(member.address()) || depth == DEEPEST) {
                    refuseIfWanted(name, "a group contains itself, or is too deep");
                } else {
                    look(member, name, depth);
                }
            } catch (RuntimeException | StackOverflowError e) {
                if (wants(name)) {
                    refused.add(Unreadable.of(number, name, e));
                }
            }
        }

        private void look(GroupMembers.Member member, String name, int depth) throws IOException {
            ObjectHeader header = ObjectHeader.readObjectHeader(storage, member.address());
            if (header.hasMessageOfType(DataSpaceMessage.class)) {
                if (wants(name)) {
                    DatasetBase dataset = (DatasetBase) DatasetLoader.createDataset(storage, header, name, file);
                    SharedTypes.resolve(storage, dataset);
                    add(dataset, name);
                }
            } else if (!header.hasMessageOfType(DataTypeMessage.class)) {
                enter(member.address(), name + "/", depth + 1);
            }
        }

        private boolean wants(String name) {
            boolean isWanted = request.wants(number, name);
            if (!isWanted) {
                refused.unwanted();
            }
            return isWanted;
        }

        private void refuseIfWanted(String name, String reason) {
            if (wants(name)) {
                refused.add(number, name, reason);
            }
        }

        private void add(DatasetBase dataset, String name) throws IOException {
            int first = offers.size();
            try {
                requireFilters(dataset, name);
                if (dataset.getDataType() instanceof VariableLength) {
                    new VariableRows(storage, dataset, number, name)
                            .offers(level + name, progress)
                            .forEach(offers::add);
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
            String dtype = NumpyTypes.of(NumpyTypes.element(type));
            List<Long> inner = NumpyTypes.dimensions(type);
            if (dtype == null || inner == null) {
                throw unfit(name, NumpyTypes.objection(type));
            }
            long[] dimensions = dataset.getDimensionsAsLong();
            RowBlocks.requirePossible(dimensions, type.getSize(), number, name);
            if (dataset.getSize() == 0 && dimensions.length == 0) {
                throw unfit(name, "it has no data");
            }
            List<Long> shape = new ArrayList<>(Arrays.stream(dimensions).boxed().toList());
            shape.addAll(inner);
            Offer offer = Offer.array(level + name, dtype, shape);
            return dataset instanceof ContiguousDataset whole && !dataset.isEmpty() && dataset.getSize() > 0
                    ? offer.lyingIn(number, file.getUserBlockSize() + whole.getDataAddress())
                    : offer;
        }

        private void requireFilters(DatasetBase dataset, String name) throws BadSource {
            ObjectHeader header = dataset.getHeader();
            String objection = header.hasMessageOfType(FilterPipelineMessage.class)
                    ? ChunkFilters.objection(header.getMessageOfType(FilterPipelineMessage.class))
                    : null;
            if (objection != null) {
                throw unfit(name, objection);
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

    private void addParts(Written array, Output output, List<WorkerThreads.Part> parts) throws BadSource {
        DatasetBase dataset = array.dataset;
        HdfBackingStorage storage = files.get(array.file).getHdfBackingStorage();
        if (dataset.getDataType() instanceof VariableLength) {
            VariableRows rows = new VariableRows(storage, dataset, array.file, array.name);
            parts.add(() -> rows.write(output, array.firstOffer));
            return;
        }
        DatasetRows rows = DatasetRows.of(storage, dataset, array.file, array.name);
        for (RowBlocks.Block block : DatasetRows.blocks(dataset, array.file, array.name)) {
            parts.add(() -> {
                try {
                    rows.write(block, output, array.firstOffer);
                } catch (RuntimeException | StackOverflowError e) {
                    throw Unreadable.of(array.file, array.name, e);
                }
            });
        }
    }

    @Override
    public void close() {
        files.forEach(file -> file.getHdfBackingStorage().close()); // HdfFile.close() needs the name of a file
    }
}
