package dev.larder.server.source.scan;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.internal.column.TextIndexBuilder;
import dev.larder.internal.layout.Names;
import dev.larder.reader.Selection;
import dev.larder.server.reader.UnpackedFiles;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.formats.TarMembers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The samples of the archives of one folder: members that follow each other and have one name up to the first dot. Closing it gives
 * back the memory that no array has taken over.
 */
final class TarSamples implements AutoCloseable {
    private static final String KEY = "key";
    private static final String KEYS = "keys";

    /** As WebDataset divides the name of a member. */
    private static final Pattern NAME = Pattern.compile("(?:\\./)?((?:.*/)?[^./][^./]*)[.]([^/]+)", Pattern.DOTALL);

    /** Of more suffixes, which no dataset has, some are forgotten. */
    private static final int MOST_SUFFIXES = 10_000;

    private final String dataset;
    private final Selection.Table search;
    private final String level;
    private final List<SourceIdentity> archives;
    private final ScanSettings settings;
    private final boolean isUnpacked;
    private final Map<String, TarColumn> columns = new LinkedHashMap<>();
    private final Keys keys;
    private final Keys longKeys;
    private long samples;

    /** Of each archive, the first sample. */
    private final List<Long> firstSamples = new ArrayList<>();

    /** Suffixes that are not columns, for messages. */
    private final Set<String> beside = new TreeSet<>();

    private final Map<String, Sample> withoutColumns = new TreeMap<>();
    private int skippedSamples;
    private int links;
    private @Nullable UnpackedFiles byReader;

    /** The file to read: the archive, or the unpacked copy of it. */
    private SourceIdentity data;

    private boolean isTaken;

    /** The sample that is being read: its key, the suffixes that are not wanted, and whether it has any that is. */
    private @Nullable String current;

    private final Set<String> unwanted = new TreeSet<>();
    private boolean isWanted;

    TarSamples(String dataset, Selection.Table search, List<SourceIdentity> archives, ScanSettings settings) {
        this.dataset = dataset;
        this.search = search;
        this.level = search.level();
        this.archives = archives;
        this.data = archives.get(0);
        this.settings = settings;
        this.isUnpacked = archives.stream().anyMatch(archive -> TarMembers.isGzip(archive.file()));
        this.keys = new Keys(settings);
        this.longKeys = new Keys(settings);
    }

    /** The key and the archive of a sample. */
    private record Sample(String key, SourceIdentity archive) {}

    /** The keys of all samples, and an index of them. */
    private static final class Keys {
        private final StringsBuilder texts;
        private final TextIndexBuilder index;

        Keys(ScanSettings settings) {
            this.texts = new StringsBuilder(settings.memory());
            this.index = new TextIndexBuilder(settings.memory());
        }

        void add(String key) {
            index.add(key, texts.size());
            texts.add(key);
        }

        void close() {
            texts.close();
            index.close();
        }
    }

    /** Returns the arrays, none where anything is refused. */
    List<SourceArray> read(List<LarderException> refusals) {
        List<SourceIdentity> forReader = archives.stream()
                .filter(archive -> TarMembers.isForReader(archive.file()))
                .toList();
        UnpackedFiles files = forReader.isEmpty() ? null : UnpackedFiles.ofFiles(forReader, settings);
        byReader = files;
        for (SourceIdentity archive : archives) {
            int number = forReader.indexOf(archive);
            int linksBefore = links;
            firstSamples.add(samples);
            data = files == null || number < 0 ? archive : files.file(number);
            try (TarMembers members = files == null || number < 0
                    ? TarMembers.open(archive.file())
                    : TarMembers.open(archive.file(), files.region(number))) {
                for (TarMembers.Member member = members.next(); member != null; member = members.next()) {
                    links = linksBefore + members.links();
                    add(archive, members, member);
                }
                links = linksBefore + members.links();
                endSample(archive);
                archive.requireUnchanged();
            } catch (LarderException e) {
                if (e.code() != ErrorCode.BAD_INPUT) {
                    throw e;
                }
                refusals.add(e);
                return List.of(); // what follows would be numbered wrongly
            }
            settings.onChecked().accept(1);
        }
        LarderException refusal = refusalOfAll();
        if (refusal != null) {
            refusals.add(refusal);
        }
        return refusal != null || samples == 0 ? List.of() : arrays();
    }

    /** Returns how many links were passed over. */
    int links() {
        return links;
    }

    /** Returns how many samples have nothing in common with those that were taken. */
    int skippedSamples() {
        return skippedSamples;
    }

    /** Returns the refusal of all archives together; null if there is none. */
    private @Nullable LarderException refusalOfAll() {
        SourceIdentity first = archives.get(0);
        Set<String> suffixes = new TreeSet<>(columns.keySet());
        suffixes.addAll(beside);
        suffixes.addAll(withoutColumns.keySet());
        if (suffixes.isEmpty()) {
            return Refusal.unfit(first.file(), "no file in it is called KEY.SUFFIX", "list its files: tar tf ARCHIVE");
        }
        for (Map.Entry<String, Sample> sample : withoutColumns.entrySet()) {
            if (beside.contains(sample.getKey())) {
                return refusal(
                        sample.getValue().archive,
                        "sample " + Names.printable(sample.getValue().key) + " has no file ."
                                + columns.keySet().iterator().next() + ", and others with a file ." + sample.getKey()
                                + " have one");
            }
        }
        return null;
    }

    private void add(SourceIdentity archive, TarMembers members, TarMembers.Member member) {
        if (settings.isCancelled().getAsBoolean()) {
            throw new CancellationException("cancelled while scanning");
        }
        Matcher name = NAME.matcher(member.name());
        if (!name.matches()) {
            return;
        }
        String key = name.group(1);
        String suffix = name.group(2).toLowerCase(Locale.ROOT);
        if (!key.equals(current)) {
            endSample(archive);
            current = key;
        }
        search.note(suffix);
        if (!search.wants(suffix)) {
            if (unwanted.size() < MOST_SUFFIXES) {
                unwanted.add(suffix);
            }
            return;
        }
        if (!isWanted) {
            isWanted = true;
            keys.add(key);
            longKeys.add(stem(archive) + "/" + key);
        }
        TarColumn column = columns.get(suffix);
        if (column == null) {
            column = newColumn(archive, suffix);
        } else if (column.rows() != samples) {
            throw refusal(archive, "sample " + Names.printable(key) + " has two files ." + suffix);
        }
        column.add(archive, data, members, member);
    }

    private TarColumn newColumn(SourceIdentity archive, String suffix) {
        String objection = Names.arrayObjection(level + suffix);
        if (suffix.equals(KEY) || suffix.equals(KEYS)) {
            objection = "the keys of samples have that name";
        }
        if (objection != null) {
            throw refusal(archive, "a column cannot be called " + Names.printable(level + suffix) + ": " + objection);
        }
        if (samples > 0) {
            throw refusal(
                    archive,
                    "sample " + Names.printable(String.valueOf(current)) + " has a file ." + suffix
                            + ", and those before it have none");
        }
        TarColumn column = TarColumn.of(suffix, isUnpacked, settings.memory());
        columns.put(suffix, column);
        return column;
    }

    private void endSample(SourceIdentity archive) {
        if (current == null) {
            return;
        } else if (isWanted) {
            endWanted(archive, current);
            if (beside.size() < MOST_SUFFIXES) {
                beside.addAll(unwanted);
            }
        } else {
            skippedSamples++;
            Sample sample = new Sample(current, archive);
            if (withoutColumns.size() < MOST_SUFFIXES) {
                unwanted.forEach(suffix -> withoutColumns.putIfAbsent(suffix, sample));
            }
        }
        current = null;
        isWanted = false;
        unwanted.clear();
    }

    private void endWanted(SourceIdentity archive, String key) {
        for (Map.Entry<String, TarColumn> column : columns.entrySet()) {
            if (column.getValue().rows() == samples) {
                throw refusal(
                        archive,
                        "sample " + Names.printable(key) + " has no file ." + column.getKey()
                                + ", and those before it have one");
            }
        }
        samples++;
    }

    private LarderException refusal(SourceIdentity archive, String reason) {
        return Refusal.unfit(
                archive.file(),
                links == 0 ? reason : reason + "; " + links + " links were not read",
                "mend the archive, or load only columns that all samples have, with --columns");
    }

    private static String stem(SourceIdentity archive) {
        String name = String.valueOf(archive.file().getFileName());
        return name.substring(0, Math.max(1, name.indexOf('.')));
    }

    private List<SourceArray> arrays() {
        List<SourceArray> arrays = new ArrayList<>();
        try {
            columns.forEach((suffix, column) -> arrays.addAll(column.arrays(dataset, level + suffix, archives)));
            addKeys(arrays);
            UnpackedFiles files = byReader;
            return files == null
                    ? arrays
                    : arrays.stream()
                            .map(array -> array.withData(array.header(), files.owning(array.data(), archives.get(0))))
                            .toList();
        } catch (RuntimeException | Error e) {
            arrays.forEach(SourceArray::release);
            throw e;
        }
    }

    /** Adds the keys; if several archives have the same, with the archive's name before each. */
    private void addKeys(List<SourceArray> arrays) {
        Keys unique = keys;
        List<SourceArray> index;
        try {
            index = ColumnArrays.of(dataset, level + KEY, keys.index, archives);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.BAD_INPUT) {
                throw e;
            }
            unique = longKeys;
            index = longIndex();
        }
        arrays.addAll(index);
        arrays.addAll(ColumnArrays.of(dataset, level + KEYS, unique.texts, archives));
        (unique == keys ? longKeys : keys).close();
        isTaken = true;
    }

    /** Indexes the long keys. A key that one archive has twice is refused. */
    private List<SourceArray> longIndex() {
        try {
            return ColumnArrays.of(dataset, level + KEY, longKeys.index, archives);
        } catch (LarderException e) {
            long[] rows = longKeys.index.repeated();
            if (rows.length == 0) {
                throw e;
            }
            SourceIdentity second = archiveOf(rows[1]);
            throw Refusal.unfit(
                    second.file(),
                    "a key is there twice: " + keys.index.keyAt(rows[1]) + " is " + place(rows[0]) + " and "
                            + place(rows[1]) + ", counted from 0",
                    "rename one of them: the files of a sample have to follow each other");
        }
    }

    private SourceIdentity archiveOf(long row) {
        return archives.get(numberOf(row));
    }

    private int numberOf(long row) {
        int number = 0;
        while (number + 1 < firstSamples.size() && firstSamples.get(number + 1) <= row) {
            number++;
        }
        return number;
    }

    private String place(long row) {
        return "sample " + (row - firstSamples.get(numberOf(row))) + " of "
                + archiveOf(row).file().getFileName();
    }

    @Override
    public void close() {
        if (!isTaken) {
            keys.close();
            longKeys.close();
            columns.values().forEach(TarColumn::close);
            UnpackedFiles files = byReader;
            if (files != null) {
                files.close();
            }
        }
    }
}
