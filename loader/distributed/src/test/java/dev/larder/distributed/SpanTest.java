package dev.larder.distributed;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class SpanTest {
    @Test
    void memoryThatIsReadOnlyCannotTakeResultsHoweverItIsWrapped() {
        ByteBuffer direct = ByteBuffer.allocateDirect(64);
        ByteBuffer onHeap = ByteBuffer.allocate(64);

        assertThat(isWritable(new UnsafeBuffer(direct))).isTrue();
        assertThat(isWritable(new UnsafeBuffer(onHeap))).isTrue();
        assertThat(isWritable(new UnsafeBuffer(new byte[64]))).isTrue();
        assertThat(isWritable(new UnsafeBuffer(direct.asReadOnlyBuffer()))).isFalse();
        assertThat(isWritable(new UnsafeBuffer(onHeap.asReadOnlyBuffer()))).isFalse();
        assertThat(isWritable(new UnsafeBuffer(new UnsafeBuffer(direct.asReadOnlyBuffer()), 8, 8)))
                .isFalse();
    }

    private static boolean isWritable(UnsafeBuffer buffer) {
        Span span = Span.of(ElementType.FLOAT, buffer);
        assertThat(span.slice(1, 1).isWritable()).isEqualTo(span.isWritable());
        return span.isWritable();
    }

    @Test
    void memoryStaysWhileASpanIsOverItAlsoWhereTheBufferHasGoneElsewhere() {
        UnsafeBuffer buffer = new UnsafeBuffer(ByteBuffer.allocateDirect(64));
        WeakReference<ByteBuffer> memory = new WeakReference<>(buffer.byteBuffer());
        WeakReference<ByteBuffer> unused = new WeakReference<>(ByteBuffer.allocateDirect(64));
        Span span = Span.of(ElementType.FLOAT, buffer);
        buffer.wrap(new byte[8]);

        Awaitility.await().until(() -> {
            System.gc();
            return unused.get() == null;
        });

        assertThat(memory.get()).isNotNull();
        assertThat(span.elements()).isEqualTo(16);
    }
}
