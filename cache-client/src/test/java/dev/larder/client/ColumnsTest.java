package dev.larder.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.testing.GoldenColumns;
import dev.larder.testing.StoreFixture;
import java.nio.ByteOrder;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads columns that an independent script wrote. */
class ColumnsTest {
    private StoreFixture fixture;
    private Larder larder;
    private Dataset dataset;

    @BeforeEach
    void connect() {
        fixture = StoreFixture.create();
        fixture.publish("d", GoldenColumns.arrays());
        larder = Larder.connect(fixture.store());
        dataset = larder.dataset("d");
    }

    @AfterEach
    void close() {
        larder.close();
        fixture.close();
    }

    @Test
    void allColumnsAreListedByName() {
        assertThat(dataset.columns())
                .containsExactly(
                        new Column("feat", Column.Kind.RAGGED),
                        new Column("files", Column.Kind.BYTES),
                        new Column("files/names", Column.Kind.STRINGS),
                        new Column("id", Column.Kind.INDEX),
                        new Column("none", Column.Kind.INDEX),
                        new Column("nothing", Column.Kind.INDEX),
                        new Column("path", Column.Kind.STRINGS),
                        new Column("scalar", Column.Kind.RAGGED),
                        new Column("scene", Column.Kind.INDEX));
    }

    @Test
    void aTextLeadsToItsRow() {
        IndexColumn scene = dataset.index("scene");

        assertThat(scene.size()).isEqualTo(GoldenColumns.TEXTS.size());
        assertThat(scene.hasIntegerKeys()).isFalse();
        assertThat(scene.name()).isEqualTo("scene");
        assertThat(scene).hasToString("IndexColumn{scene texts size=10}");
        for (int k = 0; k < scene.size(); k++) {
            String key = GoldenColumns.TEXTS.get(k);
            assertThat(scene.row(key)).as(key).isEqualTo(7L * k);
            assertThat(scene.key(k)).isEqualTo(key);
            assertThat(scene.rowOfKey(k)).isEqualTo(7L * k);
        }
    }

    @Test
    void anIntegerLeadsToItsRow() {
        IndexColumn id = dataset.index("id");

        assertThat(id.size()).isEqualTo(GoldenColumns.INTEGERS.size());
        assertThat(id.hasIntegerKeys()).isTrue();
        assertThat(id).hasToString("IndexColumn{id integers size=9}");
        for (int k = 0; k < id.size(); k++) {
            long key = GoldenColumns.INTEGERS.get(k);
            assertThat(id.row(key)).as("%d", key).isEqualTo((1L << 40) + k);
            assertThat(id.integerKey(k)).isEqualTo(key);
            assertThat(id.key(k)).isEqualTo(Long.toString(key));
            assertThat(id.rowOfKey(k)).isEqualTo((1L << 40) + k);
        }
    }

    @Test
    void whatIsNoKeyIsAbsentAndRowNamesIt() {
        IndexColumn scene = dataset.index("scene");

        assertThat(List.of("b", "scene0685_03", "größ", "größer", "日本", "\uD83D", "?", "x".repeat(99)))
                .allSatisfy(key -> assertThat(scene.find(key)).isEqualTo(IndexColumn.ABSENT));
        assertThat(dataset.index("id").find(2)).isEqualTo(IndexColumn.ABSENT);
        assertThat(dataset.index("nothing").find("")).isEqualTo(IndexColumn.ABSENT);
        assertThat(dataset.index("none").find(0)).isEqualTo(IndexColumn.ABSENT);
        assertThatThrownBy(() -> scene.row("scene0685_03"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("column=scene key=scene0685_03 keys=10");
    }

    @Test
    void keysOfTheOtherSortAreRefused() {
        assertThatThrownBy(() -> dataset.index("scene").row(1)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> dataset.index("id").row("1")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void textsAreReadAsStringsAsWindowsAndAsCopies() {
        StringsColumn path = dataset.strings("path");
        UnsafeBuffer target = new UnsafeBuffer(new byte[200]);

        assertThat(path.rows()).isEqualTo(GoldenColumns.TEXTS.size());
        for (int row = 0; row < path.rows(); row++) {
            String text = GoldenColumns.TEXTS.get(row);
            DirectBuffer window = path.utf8(row);
            assertThat(path.get(row)).isEqualTo(text);
            assertThat(window.getStringWithoutLengthUtf8(0, window.capacity())).isEqualTo(text);
            assertThat(path.copy(row, target, 3)).isEqualTo((int) path.byteSize(row));
            assertThat(target.getStringWithoutLengthUtf8(3, window.capacity())).isEqualTo(text);
        }
    }

    @Test
    void oneWindowIsPointedAtRowAfterRowAndKnowsWhenItsDatasetIsClosed() {
        StringsColumn path = dataset.strings("path");
        ViewBuffer window = new ViewBuffer();

        assertThat(window.capacity()).isZero();
        assertThatThrownBy(() -> window.getByte(0)).isInstanceOf(IndexOutOfBoundsException.class);
        for (int row = 0; row < path.rows(); row++) {
            path.utf8(row, window);
            assertThat(window).isEqualTo(path.utf8(row));
            path.utf8(row, 2, window);
            assertThat(window.capacity()).isEqualTo((int) Math.min(2, path.byteSize(row)));
        }
        dataset.ragged("feat").row(3, window);
        assertThat(window.getFloat(7 * Float.BYTES, ByteOrder.LITTLE_ENDIAN)).isEqualTo(11f);
        assertThatThrownBy(() -> window.getByte(32)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> dataset.bytes("files").row(1L << 40, window))
                .isInstanceOf(IndexOutOfBoundsException.class);

        dataset.close();

        assertThatThrownBy(() -> window.getByte(0)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void raggedRowsKeepTheirShapes() {
        RaggedColumn feat = dataset.ragged("feat");

        assertThat(feat.dtype().descr()).isEqualTo("<f4");
        assertThat(feat.rows()).isEqualTo(4);
        assertThat(feat.dimensions()).isEqualTo(2);
        assertThat(feat.shape(1)).containsExactly(0, 5);
        assertThat(feat.row(1).capacity()).isZero();
        assertThat(feat.shape(3)).containsExactly(4, 2);
        assertThat(feat.dimension(0, 1)).isEqualTo(3);
        assertThat(feat.byteSize(3)).isEqualTo(32);
        assertThat(feat.row(3).getFloat(7 * Float.BYTES, ByteOrder.LITTLE_ENDIAN))
                .isEqualTo(11f);
        assertThat(feat.values().getFloat(feat.firstElement(3) + 7)).isEqualTo(11f);
    }

    @Test
    void raggedRowsOfSingleValuesHaveNoDimensions() {
        RaggedColumn scalar = dataset.ragged("scalar");
        ExpandableArrayBuffer target = new ExpandableArrayBuffer();

        assertThat(scalar.dimensions()).isZero();
        assertThat(scalar.shape(2)).isEmpty();
        assertThat(scalar.copy(2, target, 5)).isEqualTo(2);
        assertThat(target.getShort(5, ByteOrder.BIG_ENDIAN)).isEqualTo((short) 3);
    }

    @Test
    void filesHaveNamesAndBytes() {
        BytesColumn files = dataset.bytes("files");

        assertThat(files.rows()).isEqualTo(3);
        assertThat(files.name(2)).isEqualTo("b/größe.bin");
        assertThat(files.byteSize(1)).isZero();
        assertThat(files.row(0).getStringWithoutLengthAscii(0, 5)).isEqualTo("hello");
        assertThat(files.row(2).getByte(19)).isEqualTo((byte) 19);
    }

    @Test
    void rowsOutOfRangeAreRefused() {
        assertThatThrownBy(() -> dataset.strings("path").get(10)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> dataset.strings("path").utf8(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> dataset.ragged("feat").row(4)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> dataset.ragged("feat").dimension(0, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> dataset.bytes("files").row(Long.MAX_VALUE))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> dataset.index("scene").key(10)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> dataset.index("id").integerKey(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void anUnknownColumnIsRefusedWithTheColumnsThereAre() {
        assertThatThrownBy(() -> dataset.strings("paths"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND))
                .hasMessageContaining("no such column: dataset=d version=1 column=paths")
                .hasMessageContaining("there are feat (ragged), files (bytes)");
    }

    @Test
    void aColumnOfAnotherKindIsRefusedWithBothKinds() {
        assertThatThrownBy(() -> dataset.strings("feat"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("kind=ragged asked=strings");
    }

    @Test
    void aColumnIsTheSameObjectToEveryCallerUntilItsDatasetIsClosed() {
        StringsColumn path = dataset.strings("path");

        assertThat(dataset.strings("path")).isSameAs(path);
        dataset.close();
        assertThatThrownBy(() -> path.get(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> dataset.strings("path")).hasMessageContaining("dataset is closed");
    }

    @Test
    void useAfterCloseIsRefused() {
        IndexColumn scene = dataset.index("scene");
        IndexColumn id = dataset.index("id");
        RaggedColumn feat = dataset.ragged("feat");
        StringsColumn path = dataset.strings("path");
        BytesColumn files = dataset.bytes("files");
        DirectBuffer window = files.row(0);
        assertThat(List.of(scene.isOpen(), id.isOpen())).containsOnly(true);

        dataset.close();

        assertThat(List.of(scene.isOpen(), id.isOpen())).containsOnly(false);
        assertThatThrownBy(() -> scene.rowOfKey(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> id.key(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> id.rowOfKey(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> scene.find("a")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> scene.key(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> id.find(42)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> feat.row(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> feat.shape(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> path.get(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> files.name(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> window.getByte(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> dataset.index("scene")).isInstanceOf(IllegalStateException.class);
    }
}
