package dev.larder.server.source.scan;

import dev.larder.internal.column.BytesBuilder;
import dev.larder.internal.column.ColumnBuilder;
import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.column.RowOffsets;
import dev.larder.internal.column.StringsBuilder;
import dev.larder.internal.layout.ArrayName;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.layout.Names;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.ColumnArrays;
import dev.larder.server.source.ExtentTable;
import dev.larder.server.source.Extents;
import dev.larder.server.source.Refusal;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.formats.TarMembers;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** The members of one suffix, which become a column or an array. Closing it gives its memory back. */
abstract class TarColumn implements AutoCloseable {
    /** The suffixes that WebDataset decodes as whole numbers, and as texts. */
    private static final Set<String> NUMBERS = Set.of("cls", "cls2", "class", "count", "index", "inx", "id");

    private static final Set<String> TEXTS = Set.of("txt", "text", "transcript", "json", "jsn");
    private static final int LONGEST_NUMBER = 64;

    private long rows;

    /** Makes one that fits the suffix; its last part counts, as in {@code meta.json}. */
    static TarColumn of(String suffix, boolean isUnpacked, ColumnMemory memory) {
        String kind = suffix.substring(suffix.lastIndexOf('.') + 1);
        if (NUMBERS.contains(kind)) {
            return new Numbers();
        } else if (TEXTS.contains(kind)) {
            return new Texts(memory);
        }
        return isUnpacked ? new Unpacked(memory) : new Regions(memory);
    }

    /** Returns how many members were added. */
    final long rows() {
        return rows;
    }

    /** Adds a member; {@code data} is the file that its place is in, which is the archive unless that was unpacked. */
    final void add(SourceIdentity archive, SourceIdentity data, TarMembers members, TarMembers.Member member) {
        take(archive, data, members, member);
        rows++;
    }

    abstract void take(SourceIdentity archive, SourceIdentity data, TarMembers members, TarMembers.Member member);

    /** Returns the arrays, which own the memory from now on. */
    abstract List<SourceArray> arrays(String dataset, String name, List<SourceIdentity> archives);

    @Override
    public void close() {}

    /** Data that is copied from the archives. */
    private static final class Regions extends TarColumn {
        private final ExtentTable regions = new ExtentTable();
        private final RowOffsets offsets;

        Regions(ColumnMemory memory) {
            this.offsets = new RowOffsets(memory);
        }

        @Override
        void take(SourceIdentity archive, SourceIdentity data, TarMembers members, TarMembers.Member member) {
            regions.add(data, member.offset(), member.byteSize());
            offsets.add(member.byteSize());
        }

        @Override
        List<SourceArray> arrays(String dataset, String name, List<SourceIdentity> archives) {
            ArrayName values = new ArrayName(dataset, ColumnPart.BYTES_VALUES.arrayName(name));
            NpyHeader header = NpyHeader.of(Dtype.parse("|u1"), Order.C, offsets.elements());
            List<SourceArray> arrays = new ArrayList<>();
            arrays.add(new SourceArray(values, header, Extents.of(regions), archives, ColumnPart.BYTES_VALUES));
            arrays.addAll(ColumnArrays.of(dataset, name, offsets, archives));
            return arrays;
        }

        @Override
        public void close() {
            offsets.close();
        }
    }

    /** Rows that are kept until they are stored. */
    private abstract static class Kept<B extends ColumnBuilder> extends TarColumn {
        final B rows;

        Kept(B rows) {
            this.rows = rows;
        }

        @Override
        List<SourceArray> arrays(String dataset, String name, List<SourceIdentity> archives) {
            return ColumnArrays.of(dataset, name, rows, archives);
        }

        @Override
        public void close() {
            rows.close();
        }
    }

    /** Data of gzipped archives. */
    private static final class Unpacked extends Kept<BytesBuilder> {
        Unpacked(ColumnMemory memory) {
            super(new BytesBuilder(memory));
        }

        @Override
        void take(SourceIdentity archive, SourceIdentity data, TarMembers members, TarMembers.Member member) {
            rows.add(ByteBuffer.wrap(members.content(member)));
        }
    }

    private static final class Texts extends Kept<StringsBuilder> {
        Texts(ColumnMemory memory) {
            super(new StringsBuilder(memory));
        }

        @Override
        void take(SourceIdentity archive, SourceIdentity data, TarMembers members, TarMembers.Member member) {
            try {
                rows.add(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(members.content(member))));
            } catch (CharacterCodingException e) {
                throw refusal(archive, member, "it is not UTF-8");
            }
        }
    }

    private static final class Numbers extends TarColumn {
        private long[] numbers = new long[64];

        @Override
        void take(SourceIdentity archive, SourceIdentity data, TarMembers members, TarMembers.Member member) {
            String text = member.byteSize() > LONGEST_NUMBER
                    ? "…"
                    : new String(members.content(member), StandardCharsets.US_ASCII).strip();
            int row = Math.toIntExact(rows());
            if (row == numbers.length) {
                numbers = Arrays.copyOf(numbers, Math.addExact(row, row / 2));
            }
            try {
                numbers[row] = Long.parseLong(text);
            } catch (NumberFormatException e) {
                throw refusal(archive, member, "it is not a whole number: " + Names.printable(text));
            }
        }

        @Override
        List<SourceArray> arrays(String dataset, String name, List<SourceIdentity> archives) {
            NpyHeader header = NpyHeader.of(Dtype.parse("<i8"), Order.C, rows());
            LabelData data = new LabelData(Math.toIntExact(rows()), row -> numbers[row]);
            return List.of(new SourceArray(new ArrayName(dataset, name), header, data, archives, ColumnPart.NONE));
        }
    }

    private static RuntimeException refusal(SourceIdentity archive, TarMembers.Member member, String reason) {
        return Refusal.of(archive.file(), member.offset(), "member " + Names.printable(member.name()) + ": " + reason);
    }
}
