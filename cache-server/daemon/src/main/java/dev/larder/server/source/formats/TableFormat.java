package dev.larder.server.source.formats;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import dev.larder.column.ColumnArray;
import dev.larder.column.StringsBuilder;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.BuiltData;
import dev.larder.server.source.DiscoveredFile;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.SourceProbe;
import dev.larder.server.source.WantedType;
import dev.larder.server.source.text.LineReader;
import dev.larder.server.source.text.StringsSink;
import dev.larder.server.source.text.TextFile;
import dev.larder.server.source.text.TextKind;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * Tables as text, with commas or tabs between the fields and a line of names first. Their groups of columns are arrays of int64, of uint64
 * if only that holds all integers, or of float64 if a number is missing or no integer. With a type given, all columns are one matrix of it.
 * A column is one of texts if its first value that is not missing is no number.
 */
final class TableFormat implements SourceFormat {
    private static final int UNPACK_BYTES = 64 << 10;
    private static final Dtype SIGNED = Dtype.parse("<i8");
    private static final Dtype UNSIGNED = Dtype.parse("<u8");
    private static final Dtype REAL = Dtype.parse("<f8");

    @Override
    public List<Member> members(DiscoveredFile file, SourceProbe probe, SourceProbe.Look look, SourceOptions options)
            throws IOException {
        NumberFormat wanted = options.dtype().isEmpty() ? null : wanted(file, options);
        TableReader reader =
                new TableReader(file.path(), wanted, probe.settings().beforeSpill());
        NumberTable table = read(file, reader);
        TableContent content =
                new TableContent(file, wanted, table, probe.settings().beforeSpill());
        List<Member> members = new ArrayList<>();
        if (wanted != null) {
            members.add(member(content, new ColumnGroups.Group("", 0, table.columns(), true), wanted));
        } else {
            List<ColumnGroups.Group> groups =
                    wanted(ColumnGroups.of(reader.header(), reader.texts()), file, options, probe, content);
            for (ColumnGroups.Group group : groups) {
                if (!reader.texts().get(group.first())) {
                    members.add(member(content, group, new NumberFormat(dtype(reader, table, group, content))));
                }
            }
            members.addAll(texts(file, reader, groups, content, probe.settings()));
        }
        return members;
    }

    private static List<ColumnGroups.Group> wanted(
            List<ColumnGroups.Group> groups,
            DiscoveredFile file,
            SourceOptions options,
            SourceProbe probe,
            TableContent content) {
        try {
            MemberChoice choice = MemberChoice.of(
                    file,
                    options,
                    probe,
                    groups.stream().map(ColumnGroups.Group::name).toList());
            List<ColumnGroups.Group> chosen =
                    groups.stream().filter(group -> choice.takes(group.name())).toList();
            if (chosen.isEmpty()) {
                content.release();
            }
            return chosen;
        } catch (LarderException e) {
            content.release();
            throw e;
        }
    }

    /** Reads a table that has columns of texts once more, for those alone. */
    private static List<Member> texts(
            DiscoveredFile file,
            TableReader reader,
            List<ColumnGroups.Group> groups,
            TableContent content,
            ScanSettings settings) {
        List<ColumnGroups.Group> wanted = groups.stream()
                .filter(group -> reader.texts().get(group.first()))
                .toList();
        if (wanted.isEmpty()) {
            return List.of();
        }
        List<String> columns = wanted.stream().map(ColumnGroups.Group::name).toList();
        StringsSink sink = new StringsSink(columns, settings.memory());
        try {
            TextKind kind = TextKind.require(TextKind.of(file.fileName()), file.path());
            new TextFile(file.path(), kind, settings.isCancelled()).read(sink);
            List<Member> members = new ArrayList<>();
            for (int i = 0; i < wanted.size(); i++) {
                StringsBuilder texts = sink.column(columns.get(i), content.rows());
                if (texts == null) {
                    throw Refusal.changed(file.path());
                }
                for (ColumnArray array : texts.arrays(wanted.get(i).name())) {
                    members.add(new Member(
                            array.name(), array.header(), new BuiltData(array), ColumnPart.valueOf(array.part())));
                }
            }
            return members;
        } catch (RuntimeException | Error e) {
            sink.close();
            content.release();
            throw e;
        }
    }

    /** Reads all of a file; the caller closes the table. */
    static NumberTable read(DiscoveredFile file, @Nullable NumberFormat wanted, LongConsumer beforeSpill)
            throws IOException {
        return read(file, new TableReader(file.path(), wanted, beforeSpill));
    }

    private static NumberTable read(DiscoveredFile file, TableReader reader) throws IOException {
        boolean finished = false;
        try (InputStream in = Files.newInputStream(file.path());
                InputStream unpacked = file.isGzip() ? new GZIPInputStream(in, UNPACK_BYTES) : in;
                CsvReader<Boolean> csv = CsvReader.builder()
                        .fieldSeparator(TextKind.of(file.fileName()) == TextKind.TSV ? '\t' : ',')
                        .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                        .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                        .allowUnclosedQuote(false)
                        .detectBomHeader(true)
                        .maxBufferSize(LineReader.MAX_LENGTH)
                        .build(reader, unpacked, StandardCharsets.UTF_8)) {
            csv.forEach(row -> {});
            NumberTable table = reader.table();
            finished = true;
            return table;
        } catch (CsvParseException | UncheckedIOException e) {
            throw explained(file, e);
        } finally {
            if (!finished) {
                reader.abandon();
            }
        }
    }

    /** Returns what a failure while reading comes from: the library wraps what our reader and the disk say. */
    private static LarderException explained(DiscoveredFile file, RuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LarderException ours) {
                return ours;
            } else if (cause instanceof IOException io) {
                return Refusal.unreadable(file.path(), 0, io);
            }
        }
        return Refusal.badTable(file.path(), failure);
    }

    private static NumberFormat wanted(DiscoveredFile file, SourceOptions options) {
        Dtype dtype = WantedType.dtype(options.dtype());
        if (!NumberFormat.isNumeric(dtype)) {
            throw Refusal.of(file.path(), 0, "a table of numbers cannot become elements of " + dtype);
        } else if (!options.shape().isEmpty()) {
            throw Refusal.unfit(
                    file.path(), "a table says its shape itself: its rows and columns", "load it without --shape");
        }
        return new NumberFormat(dtype);
    }

    /** Returns the type that has all numbers of a group; float64 only if it rounds no whole number. */
    private static Dtype dtype(TableReader reader, NumberTable table, ColumnGroups.Group group, TableContent content) {
        boolean isWhole = true;
        boolean hasNegative = false;
        boolean hasUnsigned = false;
        for (int c = group.first(); c < group.first() + group.count(); c++) {
            isWhole &= table.isWhole(c);
            hasNegative |= table.hasNegative(c);
            hasUnsigned |= table.hasUnsigned(c);
        }
        if (isWhole && !(hasNegative && hasUnsigned)) {
            return hasUnsigned ? UNSIGNED : SIGNED;
        }
        LarderException rounded = reader.refusalOfDoubles(group.first(), group.count());
        if (rounded != null) {
            content.release();
            throw rounded;
        }
        return REAL;
    }

    private static Member member(TableContent content, ColumnGroups.Group group, NumberFormat format) {
        long rows = content.rows();
        NpyHeader header = group.isMatrix()
                ? NpyHeader.of(format.dtype(), Order.C, rows, group.count())
                : NpyHeader.of(format.dtype(), Order.C, rows);
        return new Member(group.name(), header, new TableData(content, group, format));
    }
}
