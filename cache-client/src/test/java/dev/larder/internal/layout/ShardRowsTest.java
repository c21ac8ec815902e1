package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShardRowsTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 5, 7, 8, 9, 100, 101})
    void shardsAreEquallyLongAndTheirOwnRowsMakeUpTheWhole(int total) {
        for (int count = 1; count <= 12; count++) {
            BitSet covered = new BitSet();
            long end = 0;
            for (int index = 0; index < count; index++) {
                ShardRows shard = new ShardRows(index, count);
                long first = shard.first(total);
                assertThat(first).isBetween(0L, (long) total);
                assertThat(first + shard.rows(total)).isLessThanOrEqualTo(total);
                assertThat(shard.rows(total)).isEqualTo((total + count - 1) / count);
                covered.set((int) first, (int) (first + shard.rows(total)));

                assertThat(shard.firstOwn(total)).isEqualTo(end);
                assertThat(shard.firstOwn(total) - first).isLessThan(Math.max(1, count));
                end = Math.max(end, first + shard.rows(total));
            }
            assertThat(end).isEqualTo(total);
            assertThat(covered.cardinality()).isEqualTo(total);
        }
    }

    @Test
    void readsWhatItWrites() {
        assertThat(ShardRows.parse(new ShardRows(3, 12).text())).isEqualTo(new ShardRows(3, 12));
        for (String none : new String[] {"", "3", "3/3", "-1/2", "1/0", "a/b", "1/2 "}) {
            assertThatThrownBy(() -> ShardRows.parse(none)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void theNumberOfShardsHasALimit() {
        assertThat(new ShardRows(0, 999_999).count()).isEqualTo(999_999);
        assertThatThrownBy(() -> new ShardRows(0, 1_000_000)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aFileHasTheRowsAndTheWholeThatTheyAreOf(@TempDir Path folder) throws IOException {
        Path file = folder.resolve(StoreLayout.SHARD);
        assertThat(ShardFile.read(folder)).isNull();

        for (String whole : new String[] {"", "ab".repeat(32), "x".repeat(194)}) {
            ShardFile shard = new ShardFile(new ShardRows(3, 12), whole);
            Files.writeString(file, shard.text());
            assertThat(ShardFile.read(folder)).isEqualTo(shard);
        }
        Files.writeString(file, "3/12");
        assertThat(ShardFile.read(folder)).isEqualTo(new ShardFile(new ShardRows(3, 12), ""));
        for (String damaged : new String[] {"", "12/3 \n", "3/12 " + "x".repeat(195) + "\n"}) {
            Files.writeString(file, damaged);
            assertThatThrownBy(() -> ShardFile.read(folder))
                    .hasMessageContaining("cannot read which rows a version has");
        }
        Files.delete(file);
        Files.createDirectory(file);
        assertThat(ShardFile.read(folder)).isNull();
    }
}
