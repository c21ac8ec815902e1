package dev.larder.readers.hdf5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.jhdf.exceptions.HdfException;
import io.jhdf.object.message.FilterPipelineMessage;
import io.jhdf.object.message.FilterPipelineMessage.FilterInfo;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkFiltersTest {
    private static final int DEFLATE = 1;
    private static final int LZ4 = 32004;
    private static final int BITSHUFFLE = 32008;
    private static final int CHUNK_BYTES = 4096;

    private static FilterInfo filter(int id, int... values) {
        return new FilterInfo(id, "undefined", true, values);
    }

    private static byte[] undo(int id, byte[] chunk) {
        return new ChunkFilters(List.of(filter(id, 0, 4, 4, 0, 2)), CHUNK_BYTES)
                .undo(ByteBuffer.wrap(chunk), new BitSet());
    }

    @ParameterizedTest
    @CsvSource({"4, szip", "6, scaleoffset", "32001, undefined", "32008, bitshuffle with zstd"})
    void filtersThatAreNotAvailableAreNamed(int id, String name) {
        FilterPipelineMessage filters =
                FilterPipelineMessage.create(List.of(filter(DEFLATE), filter(id, 0, 4, 4, 0, 3)));

        assertThat(ChunkFilters.objection(filters))
                .isEqualTo("a filter of its chunks is not available: name=" + name + " id=" + id);
    }

    @Test
    void aChunkThatInflatesToMoreThanAChunkIsRefused() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (DeflaterOutputStream out = new DeflaterOutputStream(packed)) {
            out.write(new byte[1000 * CHUNK_BYTES]);
        }

        assertThatThrownBy(() -> undo(DEFLATE, packed.toByteArray()))
                .isInstanceOf(HdfException.class)
                .hasMessage("a chunk unpacks to more than 4096 bytes, or ends early");
    }

    @ParameterizedTest
    @ValueSource(ints = {LZ4, BITSHUFFLE})
    void aChunkThatClaimsMoreThanAChunkTakesNoMemory(int id) {
        byte[] claim = ByteBuffer.allocate(16).putLong(1L << 40).putInt(1 << 30).array();

        assertThatThrownBy(() -> undo(id, claim))
                .isInstanceOf(HdfException.class)
                .hasMessageStartingWith("a chunk claims 1099511627776 bytes in blocks of 1073741824");
    }

    @Test
    void aChunkThatIsShorterThanItsRowsIsRefused() {
        ChunkFilters none = new ChunkFilters(List.of(), CHUNK_BYTES);

        assertThatThrownBy(() -> none.undo(ByteBuffer.allocate(CHUNK_BYTES - 1), new BitSet()))
                .isInstanceOf(HdfException.class)
                .hasMessage("a chunk has 4095 bytes, not 4096");
    }

    @ParameterizedTest
    @ValueSource(ints = {DEFLATE, 2, 3, 32000, LZ4, BITSHUFFLE})
    void randomBytesGiveAChunkOrAFailure(int id) {
        Random random = new Random(20_261_126 + id);
        for (int round = 0; round < 2000; round++) {
            byte[] chunk = new byte[random.nextInt(2 * CHUNK_BYTES)];
            random.nextBytes(chunk);
            if (id >= LZ4 && chunk.length > 12) { // lengths that can be true
                ByteBuffer.wrap(chunk).putLong(CHUNK_BYTES).putInt(32 << random.nextInt(8));
            }
            Throwable failure = catchThrowable(() -> assertThat(undo(id, chunk)).hasSize(CHUNK_BYTES));
            if (failure != null) {
                assertThat(failure).isInstanceOf(RuntimeException.class); // no error: the heap is not full
            }
        }
    }
}
