package dev.larder.npy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class HostileHeaderTest {
    private static final String GOOD = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";

    static Stream<Arguments> literals() {
        return Stream.of(
                arguments("", 10, "too early"),
                arguments("   ", 13, "too early"),
                arguments("{", 11, "before its closing }"),
                arguments("[]", 10, "a list, not a dict"),
                arguments("'x'", 10, "a string, not a dict"),
                arguments("{'descr', 'shape'}", 18, "colon is missing"),
                arguments("{'descr': '<f4'}", 10, "'fortran_order' is missing"),
                arguments("{'descr': '<f4', 'fortran_order': True}", 10, "'shape' is missing"),
                arguments("{'fortran_order': True, 'shape': ()}", 10, "'descr' is missing"),
                arguments("{'descr': '<f4', 'descr': '<f4'}", 27, "occurs twice"),
                arguments("{'descr': '<f4', 'more': 1}", 27, "only the keys"),
                arguments("{1: 2}", 11, "only the keys"),
                arguments(GOOD + "x", 67, "after the end of the literal"),
                arguments(GOOD + "\0", 67, "after the end of the literal"),
                arguments(GOOD + GOOD, 67, "after the end of the literal"),
                arguments(GOOD + " # comment", 68, "after the end of the literal"),
                arguments("__import__('os').system('true')", 10, "'__import__'"),
                arguments("{'descr': __import__('os'), }", 20, "'__import__'"),
                arguments("{'descr': '<f4' 'x'}", 26, "comma or a closing bracket"),
                arguments("{'descr': '<f4' + 'x'}", 26, "comma or a closing bracket"),
                arguments("{'descr': b'<f4'}", 20, "not 'b'"),
                arguments("{'descr': r'<f4'}", 20, "not 'r'"),
                arguments("{'descr': None}", 20, "not 'None'"),
                arguments("{'descr': '<f4}", 20, "no closing quote"),
                arguments("{'descr': '<f4\n'}", 24, "line ends inside"),
                arguments("{'descr': '\\x4'}", 24, "hexadecimal digit"),
                arguments("{'descr': '\\U00110000'}", 21, "above U+10FFFF"),
                arguments("{'descr': '\\N{DIGIT ONE}'}", 21, "numpy does not write"),
                arguments("{" + "(".repeat(100_000), 42, "nested deeper"),
                arguments("{'descr': " + "[".repeat(33), 51, "nested deeper"),
                arguments(shape("3"), 59, "a number, not a tuple"),
                arguments(shape("(3)"), 60, "a number, not a tuple"),
                arguments(shape("[3]"), 59, "a list, not a tuple"),
                arguments(shape("(3.0,)"), 60, "not a whole decimal number"),
                arguments(shape("(0x3,)"), 60, "not a whole decimal number"),
                arguments(shape("(1_0,)"), 60, "not a whole decimal number"),
                arguments(shape("(3LL,)"), 60, "not a whole decimal number"),
                arguments(shape("(03,)"), 60, "not a decimal number"),
                arguments(shape("(-,)"), 60, "not a decimal number"),
                arguments(shape("(+3,)"), 60, "not the beginning"),
                arguments(shape("(,)"), 60, "not the beginning"),
                arguments(shape("(3,,)"), 62, "not the beginning"),
                arguments(shape("(3 4)"), 62, "comma or a closing bracket"),
                arguments(shape("(True,)"), 60, "a truth value, not a number"),
                arguments(shape("('3',)"), 60, "a string, not a number"),
                arguments(shape("(-3,)"), 59, "negative"),
                arguments(shape("(9223372036854775808,)"), 60, "64 bits"),
                arguments(shape("(9223372036854775807,)"), 59, "overflows"),
                arguments(shape("(4294967296, 4294967296)"), 59, "overflows"),
                arguments(shape("(4294967296, 4294967296, 0)"), 59, "overflows"),
                arguments(shape("(" + "1, ".repeat(65) + ")"), 59, "more than 64 dimensions"),
                arguments("{'descr': '<f4', 'fortran_order': 1, 'shape': ()}", 44, "a number, not True or False"),
                arguments("{'descr': '<f4', 'fortran_order': 'no', 'shape': ()}", 44, "not True or False"),
                arguments(descr("'|O'"), 20, "Python objects"),
                arguments(descr("'O'"), 20, "Python objects"),
                arguments(descr("[('a', '<f4'), ('b', [('c', '|O8')])]"), 48, "Python objects"),
                arguments(descr("'<f4 '"), 20, "not one that numpy writes"),
                arguments(descr("'f4'"), 20, "not one that numpy writes"),
                arguments(descr("'=f4'"), 20, "not one that numpy writes"),
                arguments(descr("'|f4'"), 20, "byte order"),
                arguments(descr("'<f3'"), 20, "not one that numpy writes"),
                arguments(descr("'<f'"), 20, "not one that numpy writes"),
                arguments(descr("'<i16'"), 20, "not one that numpy writes"),
                arguments(descr("'<f04'"), 20, "not one that numpy writes"),
                arguments(descr("'float32'"), 20, "not one that numpy writes"),
                arguments(descr("'<f4,<f4'"), 20, "not one that numpy writes"),
                arguments(descr("'(2,)<f4'"), 20, "not one that numpy writes"),
                arguments(descr("'<f4[ns]'"), 20, "not one that numpy writes"),
                arguments(descr("'<M8[xs]'"), 20, "not one that numpy writes"),
                arguments(descr("'<M8[2147483648us]'"), 20, "not one that numpy writes"),
                arguments(descr("'<U536870912'"), 20, "larger than 2 GiB"),
                arguments(descr("'|S9999999999'"), 20, "larger than 2 GiB"),
                arguments(descr("'|S99999999999'"), 20, "not one that numpy writes"),
                arguments(descr("3"), 20, "a number, not a string"),
                arguments(descr("('<f4', (3,))"), 20, "a tuple, not a string"),
                arguments(descr("['<f4']"), 21, "not a tuple of name"),
                arguments(descr("[('a',)]"), 21, "not a tuple of name"),
                arguments(descr("[('a', '<f4', (1,), 2)]"), 21, "not a tuple of name"),
                arguments(descr("[(1, '<f4')]"), 22, "field name is a number"),
                arguments(descr("[((1, 'a'), '<f4')]"), 23, "field name is a number"),
                arguments(descr("[('a', '<f4'), ('a', '<f4')]"), 35, "'a' occurs twice"),
                arguments(descr("[('a', '<f4'), (('a', 'b'), '<f4')]"), 35, "'a' occurs twice"),
                arguments(descr("[('a', '<f4', 3)]"), 34, "a number, not a tuple"),
                arguments(descr("[('a', '<f4', (-1,))]"), 35, "dimension of a field"),
                arguments(descr("[('a', '<f4', ('x',))]"), 35, "dimension of a field"),
                arguments(descr("[('a', '<f4', (65536, 65536))]"), 21, "larger than 2 GiB"),
                arguments(descr("[('a', '|V2147483647'), ('b', '|V1')]"), 44, "larger than 2 GiB"),
                arguments(descr("[('a', '<f4', (" + "1,".repeat(33) + "))]"), 34, "more than 32 dimensions"));
    }

    @ParameterizedTest
    @MethodSource("literals")
    void aBadLiteralIsRefusedAtItsPlace(String literal, int offset, String reason) {
        LarderException refusal = refusal(file(1, literal));

        assertThat(refusal).hasMessageContaining("file=bad.npy offset=" + shifted(literal, offset) + " ");
        assertThat(refusal).hasMessageContaining(reason);
    }

    static Stream<Arguments> files() {
        byte[] good = file(1, GOOD);
        return Stream.of(
                arguments(new byte[0], 0, "before the magic bytes"),
                arguments(Arrays.copyOf(good, 5), 5, "before the magic bytes"),
                arguments(Arrays.copyOf(good, 6), 6, "before the version"),
                arguments(Arrays.copyOf(good, 7), 7, "before the version"),
                arguments(Arrays.copyOf(good, 9), 9, "before its length"),
                arguments(Arrays.copyOf(good, 10), 10, "before all of the"),
                arguments(Arrays.copyOf(good, good.length - 1), good.length - 1, "before all of the"),
                arguments("NUMPY and more".getBytes(StandardCharsets.US_ASCII), 0, "not a .npy file"),
                arguments("PK\3\4 a zip file".getBytes(StandardCharsets.US_ASCII), 0, "not a .npy file"),
                arguments(patched(good, 6, 9), 6, "version 9.0"),
                arguments(patched(good, 6, 0), 6, "version 0.0"),
                arguments(patched(good, 7, 1), 6, "version 1.1"),
                arguments(patched(file(2, GOOD), 11, 0x80), 8, "2147483"),
                arguments(patched(file(3, GOOD), 10, 0x20), 8, "limit of 1048576"),
                arguments(file(3, "{'descr': '\u00ff'}", StandardCharsets.ISO_8859_1), 23, "not valid UTF-8"));
    }

    @ParameterizedTest
    @MethodSource("files")
    void aBadFileIsRefusedAtItsPlace(byte[] content, int offset, String reason) {
        LarderException refusal = refusal(content);

        assertThat(refusal).hasMessageContaining("file=bad.npy offset=" + offset + " ");
        assertThat(refusal).hasMessageContaining(reason);
    }

    @Test
    void everyTruncationOfAGoodHeaderIsRefused() {
        byte[] good = file(3, GOOD);

        for (int length = 0; length < good.length; length++) {
            assertThat(refusal(Arrays.copyOf(good, length))).hasMessageContaining("offset=" + length + " ");
        }
    }

    @Test
    void everyPatchedByteIsReadOrRefusedInWords() {
        byte[] good = file(1, GOOD);

        for (int i = 0; i < good.length; i++) {
            for (int value : new int[] {0, ' ', '(', '0', '9', '\'', '\\', 0x7f, 0xff}) {
                readOrRefuse(patched(good, i, value));
            }
        }
    }

    @Test
    void offsetsAreBytesWhereCharactersTakeSeveral() {
        LarderException refusal = refusal(file(3, "{'descr': [('日本', '<f4'), 5]}", StandardCharsets.UTF_8));

        assertThat(refusal).hasMessageContaining("offset=42 ");
    }

    @Test
    void tooManyFieldsAreRefused() {
        StringBuilder fields = new StringBuilder("[");
        for (int i = 0; i <= DtypeParser.MAX_FIELDS; i++) {
            fields.append("('").append(i).append("', '|u1'), ");
        }

        assertThat(refusal(file(2, descr(fields + "]")))).hasMessageContaining("more than 10000 fields");
    }

    @Test
    void aHeaderThatClaimsMuchButHoldsLittleIsRefusedWithoutReadingOn() {
        byte[] lying = patched(file(2, GOOD), 10, 0x0f);

        assertThat(refusal(lying)).hasMessageContaining("the file ends within its header");
    }

    @Test
    void aFileThatCannotBeReadIsNamed() {
        assertThatThrownBy(() -> NpyHeader.read(new BrokenChannel(), "bad.npy"))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("file=bad.npy offset=0 ")
                .hasMessageContaining("input/output error");
    }

    private static final class BrokenChannel implements ReadableByteChannel {
        @Override
        public int read(ByteBuffer target) throws IOException {
            throw new IOException("input/output error");
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    private static void readOrRefuse(byte[] content) {
        try {
            read(content);
        } catch (LarderException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT);
        }
    }

    private static LarderException refusal(byte[] content) {
        try {
            throw new AssertionError("not refused: " + read(content));
        } catch (LarderException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT);
            return e;
        }
    }

    private static NpyHeader read(byte[] content) {
        return Bytes.header(content, "bad.npy");
    }

    private static String descr(String descr) {
        return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (3,), }";
    }

    private static String shape(String shape) {
        return "{'descr': '<f4', 'fortran_order': False,\n'shape':" + shape + ", }";
    }

    private static byte[] file(int version, String literal) {
        return file(version, literal, StandardCharsets.ISO_8859_1);
    }

    private static byte[] file(int version, String literal, Charset charset) {
        byte[] bytes = literal.getBytes(charset);
        int lengthBytes = version == 1 && bytes.length < 65536 ? 2 : 4;
        ByteBuffer file = ByteBuffer.allocate(8 + lengthBytes + bytes.length).order(ByteOrder.LITTLE_ENDIAN);
        file.put(HeaderWriter.MAGIC).put((byte) (lengthBytes == 2 ? 1 : Math.max(2, version)));
        file.put((byte) 0);
        if (lengthBytes == 2) {
            file.putShort((short) bytes.length);
        } else {
            file.putInt(bytes.length);
        }
        return file.put(bytes).array();
    }

    /** Headers that do not fit into version 1 begin two bytes later. */
    private static int shifted(String literal, int offset) {
        return literal.length() < 65536 ? offset : offset + 2;
    }

    private static byte[] patched(byte[] content, int index, int value) {
        byte[] copy = content.clone();
        copy[index] = (byte) value;
        return copy;
    }
}
