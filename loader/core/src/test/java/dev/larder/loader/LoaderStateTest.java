package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.LarderException;
import dev.larder.loader.internal.slot.Receipt;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LoaderStateTest {
    private static final String JSON =
            "{\"format\":2,\"dataset\":\"a \\\"b\\\" \\\\\",\"digest\":\"d\",\"sampler\":\"s\",\"seed\":-3,"
                    + "\"epoch\":4,\"consumed\":5,\"length\":6,\"receipt\":\"00000000000000ff-0000000000000001\",\"decoder\":\"jpeg\",\"progress\":\"left=1"
                    + " reached=5\",\"places\":\"web=1\"}";

    private static LoaderState state(long epoch, long consumed, long length, String progress, String receipt) {
        return new LoaderState("a", "d", "s", 1, epoch, consumed, length, "", progress, "", receipt);
    }

    /** Returns the state of one of two ranks with batches of 2 samples in any order. */
    private static LoaderState rank(int rank, long consumed, String taken, Receipt receipt) {
        String progress = "left= reached=0 before=0 rank=" + rank + " world=2 batch=2 " + taken;
        return state(0, consumed, 20, progress, receipt.toString());
    }

    @Test
    void everyComponentIsInTheText() {
        LoaderState state = LoaderState.parse(JSON);

        assertThat(state)
                .isEqualTo(new LoaderState(
                        "a \"b\" \\", "d", "s", -3, 4, 5, 6, "jpeg", "left=1 reached=5", "web=1", state.receipt()));
        assertThat(state.toJson()).isEqualTo(JSON);
    }

    @Test
    void whatIsEmptyIsNotInTheText() {
        String json = new LoaderState("a", "d", "s", 1, 0, 5, 5).toJson();

        assertThat(json)
                .isEqualTo("{\"format\":1,\"dataset\":\"a\",\"digest\":\"d\",\"sampler\":\"s\",\"seed\":1,\"epoch\":0,"
                        + "\"consumed\":5,\"length\":5}");
        assertThat(LoaderState.parse(json).toJson()).isEqualTo(json);
    }

    @ParameterizedTest
    @CsvSource({"-1,0,0", "0,-1,0", "0,0,-1", "0,3,2"})
    void numbersThatNoEpochHasAreRefused(long epoch, long consumed, long length) {
        assertThatThrownBy(() -> state(epoch, consumed, length, "", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("not a state: epoch=" + epoch);
    }

    @Test
    void anEpochIsDoneWhenAllItsSamplesAreConsumed() {
        assertThat(state(0, 5, 5, "", "").isEpochDone()).isTrue();
        assertThat(state(0, 4, 5, "", "").isEpochDone()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"format", "dataset", "digest", "sampler", "seed", "epoch", "consumed", "length", "progress"})
    void aTextWithoutWhatIsNeededIsRefused(String key) {
        String without = JSON.replaceFirst("(?<=[{,])\"" + key + "\":(\"[^,]*\"|[-0-9]+),", "");

        assertThat(without).isNotEqualTo(JSON);
        assertThatThrownBy(() -> LoaderState.parse(without)).hasMessageContaining("it has no \"" + key + "\"");
    }

    @Test
    void aTextThatIsNoFlatObjectIsRefused() {
        String object = "{\"format\":1}";
        Stream.of("", object + "x", object + "}", ",\"format\":1}", "{\"format\":1", "[1]", "{\"format\":[1]}")
                .forEach(text -> assertThatThrownBy(() -> LoaderState.parse(text))
                        .as(text)
                        .isInstanceOf(LarderException.class)
                        .hasMessageMatching("(?s).*it is not a (JSON|flat) object.*"));
        Stream.of("{\"format\":1,\"format\":1}", "{\"format\":1{\"seed\":1}")
                .forEach(text -> assertThatThrownBy(() -> LoaderState.parse(text))
                        .as(text)
                        .hasMessageContaining("it is not a flat object"));
        assertThat(LoaderState.parse(JSON.replace(",", " ,\n") + " ")).isEqualTo(LoaderState.parse(JSON));
    }

    @Test
    void aNumberThatIsNoneIsNamed() {
        assertThatThrownBy(() -> LoaderState.parse(JSON.replace("\"seed\":-3", "\"seed\":\"three\"")))
                .hasMessageContaining("its \"seed\" is not a number");
        assertThatThrownBy(() -> LoaderState.parse(JSON.replace("\"seed\":-3", "\"seed\":9999999999999999999")))
                .hasMessageContaining("its \"seed\" is not a number");
        assertThatThrownBy(() -> LoaderState.parse(JSON.replace("\"format\":2", "\"format\":0")))
                .hasMessageContaining("its format is 0");
    }

    @Test
    void aLongTextIsRefusedAndShownInPart() {
        String filler = "x".repeat((1 << 20) - JSON.length());
        String longest = JSON.replace("\"digest\":\"d\"", "\"digest\":\"d" + filler + "\"");

        assertThat(LoaderState.parse(longest).digest()).hasSize(1 + filler.length());
        assertThatThrownBy(() -> LoaderState.parse(longest + " "))
                .hasMessageContaining("it has 1048577 characters")
                .hasMessageContaining("state=" + longest.substring(0, 100) + "… ");
        assertThatThrownBy(() -> LoaderState.parse("y".repeat(100)))
                .hasMessageContaining("state=" + "y".repeat(100) + " ");
    }

    @Test
    void progressOfAStateWithoutGapsIsIgnored() {
        assertThat(LoaderState.parse(JSON.replace("\"format\":2", "\"format\":1"))
                        .progress())
                .isEmpty();
    }

    @Test
    void statesOfRanksInOrderDifferOnlyBySkippedSamples() {
        LoaderState none = state(0, 5, 6, "", new Receipt(9, 0).toString());
        LoaderState one = state(0, 5, 6, "", new Receipt(9, 5).toString());
        LoaderState other = state(0, 5, 6, "", new Receipt(9, 7).toString());

        assertThat(LoaderState.merged(List.of(none, one, other, one)))
                .isEqualTo(state(0, 5, 6, "", new Receipt(9, 12).toString()));
        assertThat(LoaderState.merged(List.of(state(0, 5, 6, "", ""), state(0, 5, 6, "", ""))))
                .isEqualTo(state(0, 5, 6, "", ""));
        assertThatThrownBy(() -> LoaderState.merged(List.of(none, one, state(0, 4, 6, "", ""))))
                .hasMessage("states of ranks differ: consumed=5 and 4 receipt=" + none.receipt()
                        + " and none; merge states that all ranks saved after the same batch");
        assertThatThrownBy(() -> LoaderState.merged(List.of(none, state(0, 5, 6, "", new Receipt(8, 0).toString()))))
                .hasMessageContaining("states of ranks differ: receipt=" + none.receipt() + " and ");
        assertThatThrownBy(() -> LoaderState.merged(List.of())).hasMessage("there is no state");
    }

    @Test
    void statesOfRanksInAnyOrderAddUp() {
        LoaderState first = rank(0, 4, "taken=3 missing=1", new Receipt(1, 2));
        LoaderState second = rank(1, 2, "taken=1 missing=", new Receipt(10, 0));

        LoaderState merged = LoaderState.merged(List.of(first, second));

        assertThat(merged).isEqualTo(state(0, 6, 20, "left=4-7,9,11 reached=12", new Receipt(11, 2).toString()));
        assertThat(LoaderState.merged(List.of(second, first))).isEqualTo(merged);
    }

    @Test
    void samplesThatWereConsumedBeforeCountOnce() {
        String progress = "left= reached=8 before=8 rank=0 world=2 batch=2 taken=1 missing=";
        LoaderState first = state(0, 10, 20, progress, "");
        LoaderState second = state(0, 10, 20, progress.replace("rank=0", "rank=1"), new Receipt(1, 0).toString());

        assertThat(LoaderState.merged(List.of(first, second))).isEqualTo(state(0, 12, 20, "", ""));
    }

    @Test
    void statesThatDoNotBelongTogetherAreRefused() {
        LoaderState first = rank(0, 4, "taken=3 missing=1", new Receipt(1, 2));
        LoaderState second = rank(1, 2, "taken=1 missing=", new Receipt(10, 0));
        String progress = second.progress();

        Stream.of(
                        new LoaderState("a", "e", "s", 1, 0, 2, 20, "", progress, "", ""),
                        new LoaderState("a", "d", "t", 1, 0, 2, 20, "", progress, "", ""),
                        new LoaderState("a", "d", "s", 2, 0, 2, 20, "", progress, "", ""),
                        new LoaderState("a", "d", "s", 1, 1, 2, 20, "", progress, "", ""),
                        new LoaderState("a", "d", "s", 1, 0, 2, 21, "", progress, "", ""),
                        new LoaderState("a", "d", "s", 1, 0, 2, 20, "jpeg", progress, "", ""),
                        new LoaderState("a", "d", "s", 1, 0, 2, 20, "", progress.replace("batch=2", "batch=1"), "", ""),
                        new LoaderState("a", "d", "s", 1, 0, 2, 20, "", "", "", ""))
                .forEach(other -> assertThatThrownBy(() -> LoaderState.merged(List.of(first, other)))
                        .as("%s", other)
                        .hasMessageStartingWith("states are not those of the ranks of one run: ")
                        .message()
                        .hasSizeLessThan(500));
        assertThatThrownBy(() -> LoaderState.merged(List.of(first, first)))
                .hasMessage("states are not those of the ranks of one run: rank=0 states=2; give one of each rank");
        assertThatThrownBy(() -> LoaderState.merged(Collections.singletonList(first)))
                .hasMessage("states of some ranks are missing: ranks=[0] world=2");
    }

    @Test
    void statesOfSeveralNodesAreNotMerged() {
        String progress = rank(0, 4, "taken=3 missing=1", Receipt.NONE).progress();

        for (String each : new String[] {"", progress}) {
            LoaderState here = new LoaderState("a", "d/2:0", "s", 1, 0, 4, 20, "", each, "", "");
            LoaderState there = new LoaderState("a", "d/2:1", "s", 1, 0, 4, 20, "", each, "", "");
            assertThatThrownBy(() -> LoaderState.merged(List.of(here, there)))
                    .hasMessageContaining("states are of ranks on several nodes");
        }
        LoaderState one = new LoaderState("a", "d/2:0", "s", 1, 0, 4, 20);
        assertThat(LoaderState.merged(List.of(one, one))).isEqualTo(one);
    }
}
