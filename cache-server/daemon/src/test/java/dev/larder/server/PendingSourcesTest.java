package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.protocol.LoadRequest;
import dev.larder.message.MessageBudget;
import dev.larder.server.control.Reply;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PendingSourcesTest {
    private static final LoadRequest.Source A = new LoadRequest.Source("a", "/a");
    private static final LoadRequest.Source B = new LoadRequest.Source("b", "/b");
    private static final LoadRequest LOAD = new LoadRequest(List.of(B), List.of(), 0);

    private final Session session = new Session();

    private static final class Session implements Reply.Session {
        private @Nullable Object value;
        private Runnable onClose = () -> {};

        @Override
        public void attach(Object newValue, boolean mayBeIdle, Runnable action) {
            assertThat(mayBeIdle).isFalse();
            value = newValue;
            onClose = action;
        }

        @Override
        public void detach() {
            value = null;
        }

        @Override
        public @Nullable Object attachment() {
            return value;
        }
    }

    @Test
    void sourcesAreThoseOfTheNextLoadAlone() {
        MessageBudget budget = new MessageBudget(1_000);
        PendingSources.of(session, budget).add(List.of(A));
        PendingSources.of(session, budget).add(List.of(A));

        assertThat(PendingSources.addTo(LOAD, session).sources()).containsExactly(A, A, B);
        assertThat(PendingSources.addTo(LOAD, session).sources()).containsExactly(B);
        assertThat(budget.tryTake(1_000)).isTrue();
    }

    @Test
    void aLoadWhoseSourcesWereRefusedIsRefusedToo() {
        MessageBudget budget = new MessageBudget(200);
        PendingSources.of(session, budget).add(List.of(A));

        assertThatThrownBy(() -> PendingSources.of(session, budget).add(List.of(A)))
                .hasMessageContaining("sources=");
        assertThatThrownBy(() -> PendingSources.addTo(LOAD, session)).hasMessageContaining("no memory for the sources");
        assertThat(budget.tryTake(200)).isTrue();
    }

    @Test
    void aConnectionThatClosesGivesItsMemoryBack() {
        MessageBudget budget = new MessageBudget(200);
        PendingSources.of(session, budget).add(List.of(A));
        assertThat(budget.tryTake(200)).isFalse();

        session.onClose.run();

        assertThat(budget.tryTake(200)).isTrue();
    }
}
