package dev.larder.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnsTest {
    private record Element(int uid, long pid, String name) {
        Peer peer() {
            return new Peer(pid, uid, "user" + uid, false);
        }
    }

    private final Turns<Element> turns = new Turns<>(Element::peer);

    @Test
    void usersTakeTurnsAndSoDoTheProcessesOfOneUser() {
        turns.add(new Element(1, 10, "a"));
        turns.add(new Element(1, 10, "b"));
        turns.add(new Element(1, 11, "c"));
        turns.add(new Element(2, 20, "d"));
        turns.add(new Element(2, 20, "e"));

        assertThat(order()).containsExactly("a", "d", "c", "e", "b");
        assertThat(turns.isEmpty()).isTrue();
    }

    @Test
    void anElementWaitsOnceAndMayBeTakenOut() {
        Element element = new Element(1, 10, "a");
        turns.add(element);
        turns.add(element);

        assertThat(turns.contains(element)).isTrue();
        assertThat(turns.remove(element)).isTrue();
        assertThat(turns.remove(element)).isFalse();
        assertThat(turns.contains(element)).isFalse();
        assertThat(turns.isEmpty()).isTrue();
    }

    @Test
    void theFirstOfAProcessHoldsUpTheOthersOfItOnly() {
        turns.add(new Element(1, 10, "a"));
        turns.add(new Element(1, 10, "b"));
        turns.add(new Element(1, 11, "c"));

        assertThat(turns.first(element -> !element.name.equals("a"))).isEqualTo(new Element(1, 11, "c"));
        assertThat(turns.first(element -> element.name.equals("b"))).isNull();
    }

    private List<String> order() {
        List<String> order = new ArrayList<>();
        for (Element next = turns.first(any -> true); next != null; next = turns.first(any -> true)) {
            turns.take(next);
            order.add(next.name);
        }
        return order;
    }
}
