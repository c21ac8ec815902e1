package dev.larder.server.source.scan;

import dev.larder.column.StringsBuilder;
import dev.larder.column.TextIndexBuilder;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.Names;
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

    private final String dataset;
    private final String level;
    private final List<SourceIdentity> archives;
    private final Set<String> wanted;
    private final ScanSettings settings;
    private final boolean isUnpacked;
    private final Map<String, TarColumn> columns = new LinkedHashMap<>();
    private final Keys keys;
    private final Keys longKeys;
    private long samples;
    private @Nullable UnpackedFiles byReader;

    /** What is read of the archive: the archive, or what it was unpacked to. */
    private SourceIdentity data;

    private boolean isTaken;
    private @Nullable String current;

    TarSamples(String dataset, String level, List<SourceIdentity> archives, Set<String> wanted, ScanSettings settings) {
        this.dataset = dataset;
        this.level = level;
        this.archives = archives;
        this.data = archives.get(0);
        this.wanted = wanted;
        this.settings = settings;
        this.isUnpacked = archives.stream().anyMatch(archive -> TarMembers.isGzip(archive.file()));
        this.keys = new Keys(settings);
        this.longKeys = new Keys(settings);
    }

    /** The keys of all samples, and what leads from each to its row. */
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
            data = files == null || number < 0 ? archive : files.file(number);
            try (TarMembers members = files == null || number < 0
                    ? TarMembers.open(archive.file())
                    : TarMembers.open(archive.file(), files.region(number))) {
                for (TarMembers.Member member = members.next(); member != null; member = members.next()) {
                    add(archive, members, member);
                }
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
        if (samples == 0) {
            refusals.add(Refusal.unfit(
                    archives.get(0).file(),
                    wanted.isEmpty() ? "no file in it is called KEY.SUFFIX" : "no file in it has a suffix of " + wanted,
                    "see what it has: tar tf"));
            return List.of();
        }
        return arrays();
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
        if (!wanted.isEmpty() && !wanted.contains(suffix)) {
            return;
        }
        if (!key.equals(current)) {
            endSample(archive);
            current = key;
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
            objection = "that is what the keys of samples are called";
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
        }
        for (Map.Entry<String, TarColumn> column : columns.entrySet()) {
            if (column.getValue().rows() == samples) {
                throw refusal(
                        archive,
                        "sample " + Names.printable(current) + " has no file ." + column.getKey()
                                + ", and those before it have one");
            }
        }
        current = null;
        samples++;
    }

    private static LarderException refusal(SourceIdentity archive, String reason) {
        return Refusal.unfit(
                archive.file(),
                reason,
                "load only what all samples have, as in --columns jpg,cls, or mend the archive");
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

    /** Where archives have the same keys, the archive's name comes before each. */
    private void addKeys(List<SourceArray> arrays) {
        Keys unique = keys;
        List<SourceArray> index;
        try {
            index = ColumnArrays.of(dataset, level + KEY, keys.index, archives);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.BAD_INPUT || archives.size() == 1) {
                throw e;
            }
            unique = longKeys;
            index = ColumnArrays.of(dataset, level + KEY, longKeys.index, archives);
        }
        arrays.addAll(index);
        arrays.addAll(ColumnArrays.of(dataset, level + KEYS, unique.texts, archives));
        (unique == keys ? longKeys : keys).close();
        isTaken = true;
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
