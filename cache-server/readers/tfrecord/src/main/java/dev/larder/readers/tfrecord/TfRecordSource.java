package dev.larder.readers.tfrecord;

import dev.larder.reader.BadSource;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import dev.larder.reader.WorkerThreads;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** TFRecord files, one table for each level. Reads every file twice: for its features, then for its values. */
final class TfRecordSource implements OpenedSource {
    private static final String RECORD = "record";

    private final ReadRequest request;
    private final ReadProgress progress;
    private final boolean asBytes;
    private final List<FileFeatures> files = new ArrayList<>();
    private final List<Offer> offers = new ArrayList<>();
    private final List<FileWriter> writers = new ArrayList<>();

    TfRecordSource(ReadRequest request, ReadProgress progress) {
        this.request = request;
        this.progress = progress;
        this.asBytes = request.as().equals("bytes");
    }

    void look() throws IOException {
        List<WorkerThreads.Part> parts = new ArrayList<>();
        Map<String, List<FileFeatures>> levels = new LinkedHashMap<>();
        for (int number = 0; number < request.files().size(); number++) {
            int file = number;
            FileFeatures found = new FileFeatures(file, request);
            files.add(found);
            levels.computeIfAbsent(request.files().get(file).level(), level -> new ArrayList<>())
                    .add(found);
            parts.add(() -> found.read(asBytes, progress));
        }
        WorkerThreads.runAll(request.workers(), parts);
        for (Map.Entry<String, List<FileFeatures>> level : levels.entrySet()) {
            offer(level.getKey(), level.getValue());
        }
    }

    private void offer(String level, List<FileFeatures> table) throws BadSource {
        long rows = table.stream().mapToLong(FileFeatures::rows).sum();
        Map<String, FeatureColumn> columns = new TreeMap<>();
        if (asBytes) {
            long bytes = table.stream().mapToLong(FileFeatures::byteCount).sum();
            columns.put(RECORD, FeatureColumn.ofRecords(level + RECORD, rows, bytes, offers));
        } else {
            for (Map.Entry<String, Feature> feature : merged(table).entrySet()) {
                String name = feature.getKey();
                columns.put(name, FeatureColumn.of(level + name, feature.getValue(), rows, offers));
            }
        }
        long row = 0;
        for (FileFeatures file : table) {
            writers.add(new FileWriter(file, row, file == table.get(0), columns));
            row += file.rows();
            for (Map.Entry<String, FeatureColumn> column : columns.entrySet()) {
                Feature feature = file.features().get(column.getKey());
                boolean isOfBytes = feature != null && feature.kind() == Example.Kind.BYTES;
                long values = feature == null ? 0 : feature.values();
                long elements = isOfBytes ? feature.byteCount() : values;
                column.getValue().advance(asBytes ? file.byteCount() : elements, values);
            }
        }
    }

    private static Map<String, Feature> merged(List<FileFeatures> table) throws BadSource {
        Map<String, Feature> merged = new TreeMap<>();
        for (FileFeatures file : table) {
            for (Map.Entry<String, Feature> feature : file.features().entrySet()) {
                if (!merged.computeIfAbsent(feature.getKey(), name -> new Feature())
                        .merge(feature.getValue())) {
                    throw new BadSource(
                            file.file(),
                            BadSource.NOWHERE,
                            feature.getKey(),
                            "it is " + feature.getValue().kind() + ", but of another kind in a file before",
                            "load the files apart, or leave some out with --exclude");
                }
            }
        }
        long rows = table.stream().mapToLong(FileFeatures::rows).sum();
        merged.values().forEach(feature -> feature.addMissing(rows - feature.records()));
        return merged;
    }

    /** Writes the rows of one file. Takes its places before the columns advance to the next file. */
    private final class FileWriter {
        private final FileFeatures file;
        private final long firstRow;
        private final boolean isFirst;
        private final Map<String, FeatureColumn.Place> places = new TreeMap<>();

        FileWriter(FileFeatures file, long firstRow, boolean isFirst, Map<String, FeatureColumn> columns) {
            this.file = file;
            this.firstRow = firstRow;
            this.isFirst = isFirst;
            columns.forEach((name, column) -> places.put(name, column.place()));
        }

        void write(Output output) throws IOException {
            Map<String, FeatureWriter> features = new TreeMap<>();
            places.forEach((name, place) -> features.put(name, new FeatureWriter(output, place, firstRow, isFirst)));
            RowWriter row = new RowWriter(features);
            long rows = 0;
            try (Records records =
                    Records.open(file.file(), request.files().get(file.file()).path())) {
                while (records.next() && rows < file.rows()) {
                    if (asBytes) {
                        record(features).bytes(records.data(), 0, records.length());
                    } else {
                        FileFeatures.visit(records, row, file.file());
                    }
                    features.values().forEach(FeatureWriter::endRow);
                    rows++;
                }
            }
            features.values().forEach(FeatureWriter::flush);
            if (rows != file.rows()) {
                throw BadSource.damaged(file.file(), BadSource.NOWHERE, "", "it has changed while it was read");
            }
        }
    }

    private static FeatureWriter record(Map<String, FeatureWriter> features) {
        return Objects.requireNonNull(features.get(RECORD));
    }

    @Override
    public List<Offer> offers() {
        return offers;
    }

    @Override
    public void read(Output output) throws IOException {
        List<WorkerThreads.Part> writing = new ArrayList<>();
        writers.forEach(writer -> writing.add(() -> writer.write(output)));
        WorkerThreads.runAll(request.workers(), writing);
    }

    @Override
    public void close() {
        // files are closed after each reading
    }
}
