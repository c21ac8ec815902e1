package dev.larder.server.source.scan;

import dev.larder.error.LarderException;
import dev.larder.reader.WantedColumns;
import dev.larder.server.source.ColumnSearch;
import dev.larder.server.source.FileTable;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.formats.TarMembers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Makes columns of tar archives as WebDataset writes them: files with one name up to the first dot are a sample, and what follows
 * that dot names its column. Archives of one folder follow each other; each folder below has a level of names.
 */
final class TarScan {
    private final String dataset;
    private final Path root;
    private final List<String> keys;
    private final ScanSettings settings;
    private final List<LarderException> refusals;
    private int links;
    private int skippedSamples;

    private TarScan(
            String dataset, Path root, List<String> keys, ScanSettings settings, List<LarderException> refusals) {
        this.dataset = dataset;
        this.root = root;
        this.keys = keys;
        this.settings = settings;
        this.refusals = refusals;
    }

    /** Tells whether a source is a tar archive by itself. */
    static boolean isArchive(Path path, SourceOptions options) {
        return options.dtype().isEmpty() && TarMembers.isNamedSo(path.toString()) && !Files.isDirectory(path);
    }

    /** Tells whether some files are archives, by their names. */
    static boolean isAmong(FileTable files) {
        return IntStream.range(0, files.size()).anyMatch(i -> TarMembers.isNamedSo(files.name(i)));
    }

    static ScannedSource of(String dataset, Path path, SourceOptions options, ScanSettings settings) {
        FileWalk walk = FileWalk.of(path, options, settings);
        FileTable archives = walk.files().only(TarMembers::isNamedSo);
        TarScan scan = new TarScan(dataset, path, options.keys(), settings, walk.refusals());
        int skipped = walk.files().size() - archives.size();
        List<SourceArray> arrays = scan.arrays(archives);
        return ColumnScan.source(
                new ScannedSource(dataset, path, arrays, skipped, walk.hidden(), scan.notes()), scan.refusals);
    }

    private List<String> notes() {
        List<String> notes = new ArrayList<>();
        if (links > 0) {
            notes.add("skipped " + links + " links in archives; tar --dereference --hard-dereference packs the files");
        }
        if (skippedSamples > 0) {
            notes.add("skipped " + skippedSamples + " samples in archives that have none of the columns");
        }
        return notes;
    }

    private List<SourceArray> arrays(FileTable archives) {
        Map<String, List<SourceIdentity>> folders = new TreeMap<>();
        for (int i = 0; i < archives.size(); i++) {
            String name = archives.name(i);
            String level = name.substring(0, name.lastIndexOf('/') + 1);
            folders.computeIfAbsent(level, folder -> new ArrayList<>()).add(archives.get(i));
        }
        ColumnSearch search = new ColumnSearch(keys, folders.keySet());
        List<SourceArray> arrays = new ArrayList<>();
        try {
            folders.forEach((folder, files) -> {
                ColumnSearch.Table table = search.in(WantedColumns.storedName(folder));
                try (TarSamples samples = new TarSamples(dataset, table, files, settings)) {
                    List<SourceArray> found = samples.read(refusals);
                    arrays.addAll(found);
                    links += samples.links();
                    skippedSamples += found.isEmpty() ? 0 : samples.skippedSamples();
                }
            });
            if (refusals.isEmpty() && !search.missing().isEmpty()) {
                refusals.add(Refusal.noColumns(root, search.missing(), search.present()));
            }
            return arrays;
        } catch (RuntimeException | Error e) {
            arrays.forEach(SourceArray::release);
            throw e;
        }
    }
}
