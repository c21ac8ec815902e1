package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.column.ColumnMemory;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.npy.Numpy;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.ScratchFolders;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of numbers, and bytes whose type the user says. */
class TableSourceTest {
    @TempDir
    private Path folder;

    @Test
    void everyColumnIsAnArrayAndNumberedOnesAreAMatrix() throws Exception {
        Path file = write("t.csv", "label,price (EUR),pixel0,pixel1,pixel2\n7,1.5,1,2,3\n-8,,4,5,6\n9,2,7,8,9\n");

        assertThat(shown(file, SourceOptions.none()))
                .containsExactly(
                        "label <i8 [3] [7, -8, 9]",
                        "pixel <i8 [3, 3] [1, 2, 3, 4, 5, 6, 7, 8, 9]",
                        "price_EUR_ <f8 [3] [1.5, NaN, 2.0]");
    }

    @Test
    void anIntegerColumnBecomesDoublesWhereTheFirstFractionComes() throws Exception {
        Path file = write("t.tsv", "a\tb\n1\t9007199254740993\n2\t-5\n2.5\t9223372036854775807\n");

        assertThat(shown(file, SourceOptions.none()))
                .containsExactly("a <f8 [3] [1.0, 2.0, 2.5]", "b <i8 [3] [9007199254740993, -5, 9223372036854775807]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "9007199254740993;9223372036854775808 | <u8 [9007199254740993, 9223372036854775808]",
                "18446744073709551615;0 | <u8 [18446744073709551615, 0]",
                "-1;9223372036854775808 | <f8 [-1.0, 9.223372036854776E18]",
                "9223372036854775808;-1 | <f8 [9.223372036854776E18, -1.0]",
                "9223372036854775808;2.5 | <f8 [9.223372036854776E18, 2.5]",
                "9223372036854775808;nan | <f8 [9.223372036854776E18, NaN]",
                "18446744073709551616;1 | <f8 [1.8446744073709552E19, 1.0]",
                "-9223372036854775808;0.5 | <f8 [-9.223372036854776E18, 0.5]",
                "9007199254740993.0;1 | <f8 [9.007199254740992E15, 1.0]",
                "007;+5 | <i8 [7, 5]",
            })
    void aColumnOfIntegersHasTheTypeThatHoldsThemAll(String values, String expected) throws Exception {
        Path file = write("t.csv", "a\n" + values.replace(';', '\n') + "\n");

        assertThat(shown(file, SourceOptions.none())).containsExactly("a " + expected.replaceFirst(" ", " [2] "));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ':',
            value = {
                "True;False;True : a |b1 [3] [1, 0, 1]",
                "false;true;false : a |b1 [3] [0, 1, 0]",
                "FALSE;\"TRUE\";TRUE : a |b1 [3] [0, 1, 1]",
                "_;NA;true;_;FALSE : a.mask |b1 [5] [1, 1, 0, 1, 0]; a |b1 [5] [0, 0, 1, 0, 0]",
                "true;no : a/bytes |u1 [6] [116, 114, 117, 101, 110, 111]; a/offsets <i8 [3] [0, 4, 6]",
                "_;x;Q;NA : a.mask |b1 [4] [1, 0, 0, 0]; a/bytes |u1 [3] [120, 78, 65]; a/offsets <i8 [5] [0, 0, 1, 1, 3]",
            })
    void aColumnIsOfBooleansIfAllItsValuesAreAndMissingOnesHaveAMask(String values, String expected) throws Exception {
        Path file = write(
                "t.csv",
                "n,a\n1," + values.replace("_", "").replace("Q", "\"\"").replace(";", "\n1,") + "\n");

        assertThat(shown(file, new SourceOptions(List.of("a")))).containsExactlyInAnyOrder(expected.split("; "));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-1,9223372036854775809",
                "9223372036854775809,-1",
                "1,18446744073709551617",
                "-9223372036854775809,1",
                "1.5,9007199254740993",
                "9007199254740993,NA",
                "9007199254740993,0.5",
                "9223372036854775809,1.0",
            })
    void anIntegerThatADoubleWouldRoundIsRefused(String values) {
        Path file = write("t.csv", "b,a\n1," + values.replace(",", "\n1,") + "\n");
        int line = values.indexOf(',') < 6 ? 3 : 2;

        assertThatThrownBy(() -> ScannedSource.scan("set", file, SourceOptions.none()))
                .hasMessageContaining("line=" + line + " reason=field 2 (a): '")
                .hasMessageContaining("' would be rounded: float64 lacks this whole number")
                .hasMessageContaining("--as strings");
        assertThat(ScannedSource.scan("set", file, new SourceOptions(List.of("b")))
                        .arrays())
                .hasSize(1);
    }

    @Test
    void columnsOfAMatrixShareOneTypeThatHoldsThemAll() throws Exception {
        Path unsigned = write("u.csv", "x0,x1\n1,9223372036854775809\n");
        Path mixed = write("m.csv", "x0,x1\n-1,9223372036854775809\n");

        assertThat(shown(unsigned, SourceOptions.none())).containsExactly("x <u8 [1, 2] [1, 9223372036854775809]");
        assertThatThrownBy(() -> ScannedSource.scan("set", mixed, SourceOptions.none()))
                .hasMessageContaining("'9223372036854775809' would be rounded");
    }

    @ParameterizedTest
    @CsvSource({
        "9007199254740993.0, i8",
        "4.00000000000000000001, i4",
        "1e-400, u1",
        "1e-99999999999, i8",
        "1e400, i8",
        "18446744073709551616, u8",
    })
    void aNumberThatIsNoElementOfTheWantedTypeIsRefused(String value, String dtype) {
        Path file = write("t.csv", "a\n1\n" + value + "\n");

        assertThatThrownBy(() -> ScannedSource.scan("set", file, typed(dtype, "")))
                .hasMessageContaining("line=3 reason=field 1 (a): '" + value + "' is not an element of");
    }

    @Test
    void aTextInATableOfOneTypeIsRefusedWithTheWayToKeepIt() {
        Path file = write("t.csv", "a,b\n1,2\n1,x\n");

        assertThatThrownBy(() -> ScannedSource.scan("set", file, typed("f4", "")))
                .hasMessageEndingWith(
                        "line=3 reason=field 2 (b): 'x' is not a number; leave out --dtype, repair the line, or load all columns"
                                + " as texts with --as strings");
    }

    @Test
    void emptyLinesAreSkippedWhateverColumnsHold() throws Exception {
        Path one = write("one.csv", "\nname\n\nx\n\n\"\"\ny\n\n");
        Path two = write("two.tsv", "a\tn\nx\t1\n\n\ny\t2\n");

        assertThat(texts(one, "name")).containsExactly("xy", "0, 1, 1, 2");
        assertThat(texts(two, "a")).containsExactly("xy", "0, 1, 2");
    }

    /** Returns the text of a column and where its rows begin. */
    private static List<String> texts(Path file, String column) throws Exception {
        ScannedSource source = ScannedSource.scan("set", file, SourceOptions.none());
        assertThat(source.arrays().get(0).name().array()).isEqualTo(column + "/bytes");
        String text = new String(SourceFiles.data(source.arrays().get(0)), StandardCharsets.UTF_8);
        ByteBuffer offsets = numbers(source.arrays().get(1));
        List<String> rows = new ArrayList<>();
        while (offsets.hasRemaining()) {
            rows.add(String.valueOf(offsets.getLong()));
        }
        source.arrays().forEach(SourceArray::release);
        return List.of(text, String.join(", ", rows));
    }

    @Test
    void theEndOfANameSaysWhatIsBetweenFields() throws Exception {
        assertThat(shown(write("a.tsv.csv", "a,b\n1,2\n"), SourceOptions.none()))
                .containsExactly("a <i8 [1] [1]", "b <i8 [1] [2]");
    }

    @Test
    void textsOfNumbersAreReadInAllTheirForms() throws Exception {
        Path file = write(
                "t.csv",
                "\ufeffa\r\n\"1e-3\"\r\n+2.\r\n .5 \r\n-inf\r\nNaN\r\n1e400\r\n0.1\r\n123456789012345678901.\r\n");

        assertThat(shown(file, SourceOptions.none()))
                .containsExactly("a <f8 [8] [0.001, 2.0, 0.5, -Infinity, NaN, Infinity, 0.1, 1.2345678901234568E20]");
    }

    @Test
    void aTypeMakesAllColumnsOneMatrix() throws Exception {
        Path named = write("t.csv", "a,b\n1,2\n3,4.0\n");
        Path bare = write("digits.csv.gz", "5,6\n7,255\n");

        assertThat(shown(named, typed("float32", ""))).containsExactly("t <f4 [2, 2] [1.0, 2.0, 3.0, 4.0]");
        assertThat(shown(bare, typed("u1", ""))).containsExactly("digits |u1 [2, 2] [5, 6, 7, 255]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1,2;3,4 | [2, 2] [1.0, 2.0, 3.0, 4.0]",
                "0,2;3,4 | [2, 2] [0.0, 2.0, 3.0, 4.0]",
                "0.0,1;3,4 | [2, 2] [0.0, 1.0, 3.0, 4.0]",
                "nan,1;3,4 | [2, 2] [NaN, 1.0, 3.0, 4.0]",
                "1;5 | [2, 1] [1.0, 5.0]",
                "nan,NA;3,4 | [2, 2] [NaN, NaN, 3.0, 4.0]",
                "x0,x1;0,1 | [1, 2] [0.0, 1.0]",
                ",a;0,1 | [1, 2] [0.0, 1.0]"
            })
    void aFirstLineOfNumbersIsDataWhereATypeIsGiven(String text, String expected) throws Exception {
        Path file = write("t.csv", text.replace(';', '\n') + "\n");

        assertThat(shown(file, typed("f4", ""))).containsExactly("t <f4 " + expected);
    }

    @Test
    void aMissingValueLeavesTheTypeOfItsColumnToTheFirstThatIsThere() throws Exception {
        Path file = write("t.csv", "n,v,none\nNA,,\nx,2,\n7,nan,\n");

        ScannedSource source = ScannedSource.scan("set", file, SourceOptions.none());

        assertThat(source.arrays())
                .extracting(array -> array.name().array() + " " + array.dtype())
                .containsExactly("n/bytes |u1", "n/offsets <i8", "none <f8", "v <f8");
        assertThat(new String(SourceFiles.data(source.arrays().get(0)), StandardCharsets.UTF_8))
                .isEqualTo("NAx7");
        source.arrays().forEach(SourceArray::release);
    }

    @ParameterizedTest
    @ValueSource(strings = {"T.CSV", "T.CSV.GZ", "T.Csv"})
    void theCaseOfASuffixDoesNotMatter(String name) throws Exception {
        byte[] text = "a,b\n1,2\n".getBytes(StandardCharsets.UTF_8);
        Path file = SourceFiles.write(folder.resolve(name), name.endsWith("GZ") ? SourceFiles.gzip(text) : text);

        assertThat(shown(file, SourceOptions.none())).containsExactly("a <i8 [1] [1]", "b <i8 [1] [2]");
    }

    @Test
    void columnsOfATableAreChosenByTheirNames() throws Exception {
        Path file = write("t.csv", "a,name,x0,x1\n1,n,2,3\n");

        assertThat(shown(file, new SourceOptions(List.of("x", "a"))))
                .containsExactly("a <i8 [1] [1]", "x <i8 [1, 2] [2, 3]");
        assertThatThrownBy(() -> ScannedSource.scan("set", file, new SourceOptions(List.of("no"))))
                .hasMessageContaining("it has no columns [no], but [a, name, x]; name columns that it has");
    }

    @Test
    void halfNumbersAreRoundedAsNumpyRoundsThem() throws Exception {
        List<String> values = new ArrayList<>(List.of("65519.9", "65520", "-0.0", "6e-8", "2.98e-8", "2047.5", "0.1"));
        Random random = new Random(3);
        for (int i = 0; i < 500; i++) {
            values.add(String.valueOf((random.nextDouble() - 0.5) * Math.pow(2, random.nextInt(44) - 26)));
        }
        Path file = write("t.csv", "x\n" + String.join("\n", values) + "\n");
        String script = "import numpy as np, sys; np.seterr(all='ignore');"
                + " print(np.array([float(v) for v in open(sys.argv[1]).read().split()[1:]]).astype('<f2').tobytes().hex())";

        SourceArray array =
                ScannedSource.scan("set", file, typed("f2", "")).arrays().get(0);

        assertThat(java.util.HexFormat.of().formatHex(SourceFiles.data(array)))
                .isEqualTo(Numpy.run(script, file.toString()).trim());
    }

    @Test
    void aTableOfSeveralBlocksIsReadAsJavaReadsIt() throws Exception {
        int rows = 300_000;
        double[] expected = new double[rows];
        StringBuilder text = new StringBuilder("i,x0,x1\n");
        Random random = new Random(5);
        for (int row = 0; row < rows; row++) {
            String number = random.nextInt(4) == 0 ? "" + row : "" + random.nextGaussian();
            expected[row] = Double.parseDouble(number);
            text.append(row).append(',').append(number).append(',').append(-row).append('\n');
        }
        ScannedSource source = ScannedSource.scan("set", write("t.csv", text.toString()), SourceOptions.none());

        ByteBuffer x = numbers(source.arrays().get(1));
        ByteBuffer i = numbers(source.arrays().get(0));

        for (int row = 0; row < rows; row++) {
            assertThat(i.getLong(row * 8)).isEqualTo(row);
            assertThat(x.getDouble(row * 16)).isEqualTo(expected[row]);
            assertThat(x.getDouble(row * 16 + 8)).isEqualTo(-row);
        }
        source.arrays().forEach(SourceArray::release);
        assertThatThrownBy(() -> SourceFiles.data(source.arrays().get(0))).hasMessageContaining("column is closed");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"uint8 | 2,3 | [2, 3]", "u1 | | [6]", ">i2 | -1,3 | [1, 3]", "int16 | (3,) | [3]", "V6|-1|[1]"})
    void rawBytesAreWhatTheUserSays(String dtype, String shape, String expected) throws Exception {
        Path file = SourceFiles.write(folder.resolve("x.f32"), SourceFiles.counting(6));

        SourceArray array = ScannedSource.scan("set", file, typed(dtype, shape == null ? "" : shape))
                .arrays()
                .get(0);

        assertThat(array.name()).hasToString("set/x");
        assertThat(Arrays.toString(array.shape())).isEqualTo(expected);
        assertThat(SourceFiles.data(array)).isEqualTo(SourceFiles.counting(6));
    }

    @Test
    void rawFilesOfAFolderAreReadOnlyIfATypeIsGiven() {
        SourceFiles.write(folder.resolve("a.bin"), SourceFiles.counting(6));
        SourceFiles.npy(folder.resolve("b.npy"), "<f4", 2);

        assertThat(ScannedSource.scan("set", folder, SourceOptions.none()).skippedFiles())
                .isEqualTo(1);
        assertThat(ScannedSource.scan("set", folder, typed("u1", "-1,2")).arrays())
                .extracting(array -> array.name().array() + Arrays.toString(array.shape()))
                .containsExactly("a[3, 2]", "b[2]");
    }

    private static SourceOptions typed(String dtype, String shape) {
        return SourceOptions.of(LoadOptions.none().withElements(dtype, shape));
    }

    @ParameterizedTest
    @ValueSource(strings = {"t.csv", "t.csv.gz"})
    void columnsOfTextsStandBesideColumnsOfNumbers(String name) throws Exception {
        Path file = write(name, "id,full name,x0,x1,tag2\n1,\"Ann, B\",0.5,1,a\n2,12,,2,\n");

        ScannedSource source = ScannedSource.scan("set", file, SourceOptions.none());

        assertThat(source.arrays())
                .extracting(array -> array.name().array() + " " + array.dtype() + " " + array.part())
                .containsExactly(
                        "full_name/bytes |u1 STRINGS_BYTES",
                        "full_name/offsets <i8 STRINGS_OFFSETS",
                        "id <i8 NONE",
                        "tag2.mask |b1 NONE",
                        "tag2/bytes |u1 STRINGS_BYTES",
                        "tag2/offsets <i8 STRINGS_OFFSETS",
                        "x <f8 NONE");
        assertThat(new String(SourceFiles.data(source.arrays().get(0)), StandardCharsets.UTF_8))
                .isEqualTo("Ann, B12");
        source.arrays().forEach(SourceArray::release);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1,2",
                "nan,1",
                "nan,NA",
                "inf,-inf",
                "1e3,.5",
                "0,1",
                "0",
                ",1",
                ",0,1",
                ",",
                "\"\"",
                " \t",
                "NA,",
                "1,"
            })
    void theRuleForTheFirstLineIsTheSameForNumbersTextsAndKeys(String line) {
        Path file = write("t.csv", "\n\n" + line + "\n" + line + "\n");
        List<String> messages = new ArrayList<>();

        for (LoadOptions.As as : List.of(LoadOptions.As.ARRAYS, LoadOptions.As.STRINGS, LoadOptions.As.INDEX)) {
            assertThatThrownBy(() -> ScannedSource.scan("set", file, new SourceOptions(List.of(), as, "", "")))
                    .hasMessageContaining("line=3 reason=the first line ")
                    .satisfies(refusal -> messages.add(refusal.getMessage()));
        }

        assertThat(messages.stream().distinct()).hasSize(1);
    }

    @Test
    void aMatrixWithAColumnThatTurnsOutToBeOfTextsIsSplit() throws Exception {
        Path file = write("t.csv", "x0,x1,x2,x3\n1,,3,\n4,,6,\n7,b,9,8\n");

        ScannedSource source = ScannedSource.scan("set", file, SourceOptions.none());

        assertThat(source.arrays())
                .extracting(array -> array.name().array() + " " + array.dtype() + Arrays.toString(array.shape()))
                .containsExactly("x <f8[3, 2]", "x0 <i8[3]", "x1.mask |b1[3]", "x1/bytes |u1[1]", "x1/offsets <i8[4]");
        assertThat(numbers(source.arrays().get(0)).asDoubleBuffer())
                .isEqualTo(DoubleBuffer.wrap(new double[] {3, Double.NaN, 6, Double.NaN, 9, 8}));
        source.arrays().forEach(SourceArray::release);
    }

    @Test
    void columnsThatAreNotChosenAreCheckedButNotKept() {
        Path file = write("t.csv", "a,name,x0,x1\n" + "1,n,2,3\n".repeat(1_000));
        List<Long> allocated = new ArrayList<>();
        SourceOptions options = new SourceOptions(List.of("a"));

        ScannedSource source = ScannedSource.scan("set", file, options, countingInto(allocated));

        assertThat(allocated.stream().mapToLong(bytes -> bytes).sum()).isEqualTo(8 << 10);
        assertThatThrownBy(() -> ScannedSource.scan("set", write("u.csv", "a,b\n1,2\n1,x\n"), options))
                .hasMessageContaining("line=3 reason=field 2 (b): 'x' is not a number");
        source.arrays().forEach(SourceArray::release);
    }

    @Test
    void memoryOfTheColumnsOfAMatrixIsFreedWithIt() {
        Path file = write("t.csv", "x0,x1,n\n1,2,\n3,4,x\n");
        List<Long> allocated = new ArrayList<>();
        ScannedSource source = ScannedSource.scan("set", file, SourceOptions.none(), countingInto(allocated));

        source.arrays().forEach(SourceArray::release);

        assertThat(allocated.stream().mapToLong(bytes -> bytes).sum()).isZero();
    }

    @Test
    void memoryIsFreedWhenAnArrayIsRefusedAfterItWasMade() throws Exception {
        Path level = Files.createDirectories(folder.resolve(("d".repeat(200) + "/").repeat(4)));
        SourceFiles.write(
                level.resolve("t.csv"), ("a," + "b".repeat(230) + "\n1,2\n").getBytes(StandardCharsets.UTF_8));
        List<Long> allocated = new ArrayList<>();

        assertThatThrownBy(() -> ScannedSource.scan("set", folder, SourceOptions.none(), countingInto(allocated)))
                .hasMessageContaining("its array cannot be called");

        assertThat(allocated).isNotEmpty();
        assertThat(allocated.stream().mapToLong(bytes -> bytes).sum()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void memoryIsFreedWhenAScanIsCancelled(int workers) {
        for (int i = 0; i < 300; i++) {
            write(i + ".csv", "a,b\n1,x\n");
        }
        List<Long> allocated = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger checked = new AtomicInteger();
        ColumnMemory memory = countingInto(allocated).memory();
        ScanSettings settings = new ScanSettings(
                workers,
                false,
                () -> checked.get() > 0,
                checked::addAndGet,
                memory,
                ScratchFolders.temporary(),
                false,
                null);

        assertThatThrownBy(() -> ScannedSource.scan("set", folder, SourceOptions.none(), settings))
                .isInstanceOf(CancellationException.class);

        assertThat(allocated).isNotEmpty();
        assertThat(allocated.stream().mapToLong(bytes -> bytes).sum()).isZero();
    }

    private static ScanSettings countingInto(List<Long> allocated) {
        ColumnMemory memory = new ColumnMemory() {
            @Override
            public long allocate(long byteSize) {
                allocated.add(byteSize);
                return ColumnMemory.anonymous().allocate(byteSize);
            }

            @Override
            public void populate(long address, long byteSize) {}

            @Override
            public void free(long address, long byteSize, long populatedBytes) {
                allocated.add(-byteSize);
                ColumnMemory.anonymous().free(address, byteSize, populatedBytes);
            }
        };
        return new ScanSettings(1, false, () -> false, checked -> {}, memory, ScratchFolders.temporary(), false, null);
    }

    @Test
    void aTextInAColumnOfNumbersIsRefusedWithItsLine() {
        assertThatThrownBy(() -> ScannedSource.scan("set", write("t.csv", "a,b\n1,x\ny,z\n"), SourceOptions.none()))
                .hasMessageContaining(
                        "line=3 reason=field 1 (a): 'y' is not a number, but the first value of its column is;")
                .hasMessageContaining("--as strings");
    }

    private Path write(String name, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return SourceFiles.write(folder.resolve(name), name.endsWith(".gz") ? SourceFiles.gzip(bytes) : bytes);
    }

    private static ByteBuffer numbers(SourceArray array) throws Exception {
        return ByteBuffer.wrap(SourceFiles.data(array)).order(array.dtype().byteOrder());
    }

    private static List<String> shown(Path file, SourceOptions options) throws Exception {
        assertThat(Files.exists(file)).isTrue();
        List<String> shown = new ArrayList<>();
        for (SourceArray array : ScannedSource.scan("set", file, options).arrays()) {
            List<Object> values = new ArrayList<>();
            for (ByteBuffer numbers = numbers(array); numbers.hasRemaining(); ) {
                values.add(
                        switch (array.dtype().descr()) {
                            case "<i8" -> numbers.getLong();
                            case "<u8" -> Long.toUnsignedString(numbers.getLong());
                            case "<f8" -> numbers.getDouble();
                            case "<f4" -> numbers.getFloat();
                            default -> (Object) (numbers.get() & 0xff);
                        });
            }
            shown.add(array.name().array() + " " + array.dtype() + " " + Arrays.toString(array.shape()) + " " + values);
        }
        return shown;
    }
}
