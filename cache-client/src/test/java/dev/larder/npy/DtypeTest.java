package dev.larder.npy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DtypeTest {
    @ParameterizedTest
    @CsvSource({
        "|b1,BOOL,1,true",
        "|i1,INT,1,true",
        ">i8,INT,8,false",
        "<u2,UINT,2,true",
        "<f2,FLOAT,2,true",
        "<f16,FLOAT,16,true",
        ">c8,COMPLEX,8,false",
        "<c32,COMPLEX,32,true",
        "|S5,BYTES,5,true",
        "|S0,BYTES,0,true",
        "<U10,UNICODE,40,true",
        ">U1,UNICODE,4,false",
        "|V7,VOID,7,true",
        "<M8[ns],DATETIME,8,true",
        "<M8,DATETIME,8,true",
        ">m8[25us],TIMEDELTA,8,false"
    })
    void aSimpleTypeSaysWhatItIs(String descr, Kind kind, int itemSize, boolean littleEndian) {
        Dtype dtype = Dtype.parse(descr);

        assertThat(dtype.kind()).isEqualTo(kind);
        assertThat(dtype.itemSize()).isEqualTo(itemSize);
        assertThat(dtype.isLittleEndian()).isEqualTo(littleEndian);
        assertThat(dtype.byteOrder()).isEqualTo(littleEndian ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
        assertThat(dtype.descr()).isEqualTo(descr);
        assertThat(dtype.fields()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "<i1,|i1",
        ">b1,|b1",
        "<V2,|V2",
        ">S3,|S3",
        "<M8[1us],<M8[us]",
        "<m8[generic],<m8",
    })
    void spellingsOfOneMeaningAreEqual(String spelling, String canonical) {
        assertThat(Dtype.parse(spelling)).isEqualTo(Dtype.parse(canonical)).hasSameHashCodeAs(Dtype.parse(canonical));
        assertThat(Dtype.parse(spelling)).hasToString(canonical);
    }

    @Test
    void typesOfDifferentMeaningDiffer() {
        assertThat(Dtype.parse("<f4")).isNotEqualTo(Dtype.parse(">f4"));
        assertThat(Dtype.parse("|V4")).isNotEqualTo(Dtype.parse("[('', '|V4')]"));
        assertThat(Dtype.parse("[('a', '<f4')]")).isNotEqualTo(Dtype.parse("[('a', '<f4'), ('', '|V1')]"));
        assertThat(Dtype.parse("[('a', '<f4')]")).isNotEqualTo(Dtype.parse("[('a', '<f4', (1,))]"));
    }

    @Test
    void fieldsKnowWhereTheyLie() {
        Dtype dtype = Dtype.parse(
                "[('a', '|u1'), ('', '|V3'), (('title', 'b'), '<i2', (2, 3)), ('n', [('x', '<f8')]), ('', '|V4')]");

        assertThat(dtype.fields())
                .containsExactly(
                        new StructField("a", null, Dtype.parse("|u1"), List.of(), 0),
                        new StructField("b", "title", Dtype.parse("<i2"), List.of(2, 3), 4),
                        new StructField("n", null, Dtype.parse("[('x', '<f8')]"), List.of(), 16));
        assertThat(dtype.fields()).extracting(StructField::byteSize).containsExactly(1, 12, 8);
        assertThat(dtype.itemSize()).isEqualTo(28);
    }

    @Test
    void paddingInPiecesIsTheSamePadding() {
        Dtype pieces = Dtype.parse("[('a', '|u1'), ('', '|V1'), ('', '|V2'), ('', '|V1', (4,))]");

        assertThat(pieces).isEqualTo(Dtype.parse("[('a', '|u1'), ('', '|V7')]"));
    }

    @Test
    void smallArraysOfSmallArraysAreOneSmallArray() {
        assertThat(Dtype.parse("[('a', ('<f4', (2,)), (3,))]")).isEqualTo(Dtype.parse("[('a', '<f4', (3, 2))]"));
    }

    @Test
    void jsonHasTheSameListWithBracketsOnly() {
        Dtype dtype = Dtype.parse("[(('t', 'a\"é'), '|u1'), ('', '|V3'), ('b', '<i2', (3,)), ('n', [('x', '<f8')])]");

        assertThat(dtype.descrJson())
                .isEqualTo("[[[\"t\", \"a\\\"é\"], \"|u1\"], [\"\", \"|V3\"], [\"b\", \"<i2\", [3]],"
                        + " [\"n\", [[\"x\", \"<f8\"]]]]");
        assertThat(Dtype.parse("<f4").descrJson()).isEqualTo("\"<f4\"");
    }

    @Test
    void anOctalEscapeHasUpToThreeDigitsAsInPython() {
        Dtype dtype = Dtype.parse("[('\\101\\7b\\1234\\78\\0', '|u1')]");

        assertThat(dtype.fields().get(0).name()).isEqualTo("A\u0007bS4\u00078\0");
    }

    @Test
    void jsonEscapesOnlyWhatItCannotHave() {
        Dtype dtype = Dtype.parse("[('\\x07\\\\\\'\\u00e9\\U0001f600', '|u1')]");

        assertThat(dtype.descrJson()).isEqualTo("[[\"\\u0007\\\\'é\ud83d\ude00\", \"|u1\"]]");
    }

    @Test
    void charactersThatNotEveryJdkKnowsAreWrittenTheSame() {
        String known = new String(Character.toChars(0x1fae0));
        String never = "\u0378";

        Dtype dtype = Dtype.parse("[('" + known + never + "', '<f4')]");

        assertThat(dtype).hasToString("[('" + known + never + "', '<f4')]");
    }

    @Test
    void objectsAreRefusedWithWhatToDoInstead() {
        assertThatThrownBy(() -> Dtype.parse("[('a', '|O')]"))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("pickle")
                .hasMessageContaining("astype('U')");
    }

    @Test
    void aNameOfNumpyIsRefusedWithTheTextToWrite() {
        assertThatThrownBy(() -> Dtype.parse("float32"))
                .hasMessage(
                        "cannot read dtype: dtype='float32' position=0 reason=dtype 'float32' is not one that numpy writes;"
                                + " give numpy's dtype.str, as <f4 for float32 and |u1 for uint8, or the list of a structured dtype");
    }

    @Test
    void hostileTextIsShownShortAndEscaped() {
        assertThatThrownBy(() -> Dtype.parse("\u001b[31m" + "x".repeat(10_000)))
                .hasMessageContaining("\\x1b")
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
    }
}
