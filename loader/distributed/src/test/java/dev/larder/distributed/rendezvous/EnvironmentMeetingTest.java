package dev.larder.distributed.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.distributed.internal.meeting.MeetingUrl;
import dev.larder.distributed.internal.meeting.NodeMeeting;
import dev.larder.error.LarderException;
import dev.larder.internal.time.Deadline;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What ranks take from the environment that a launcher made. */
class EnvironmentMeetingTest {
    private static final Duration SHORT = Duration.ofMillis(300);

    private static Map<String, String> torchrun(int rank) {
        Map<String, String> environment = new HashMap<>();
        environment.put("RANK", Integer.toString(rank));
        environment.put("LOCAL_RANK", Integer.toString(rank));
        environment.put("WORLD_SIZE", "4");
        environment.put("LOCAL_WORLD_SIZE", "4");
        environment.put("MASTER_ADDR", "127.0.0.1");
        environment.put("MASTER_PORT", "29500");
        environment.put("TORCHELASTIC_RUN_ID", "none");
        environment.put("TORCHELASTIC_RESTART_COUNT", "0");
        environment.put("TORCHELASTIC_ERROR_FILE", "/tmp/torchelastic_x/none_abc/attempt_0/" + rank + "/error.json");
        return environment;
    }

    private static RendezvousResult meet(Map<String, String> environment) {
        return Rendezvous.meet(MeetingUrl.parse("env://"), environment, Deadline.after(SHORT));
    }

    @Test
    void ranksOfALauncherNeedNoNetworkAndHaveOneKey() {
        RendezvousResult first = meet(torchrun(0));
        RendezvousResult last = meet(torchrun(3));

        assertThat(last).isEqualTo(new RendezvousResult(3, 4, 3, 4, first.key()));
        assertThat(first.key()).matches("[a-z0-9-]{16,64}");
    }

    @ParameterizedTest
    @CsvSource({
        "TORCHELASTIC_RUN_ID, other",
        "TORCHELASTIC_RESTART_COUNT, 1",
        "MASTER_PORT, 29501",
        "LARDER_RUN_ID, x",
        "TORCHELASTIC_ERROR_FILE, /tmp/torchelastic_x/none_def/attempt_0/0/error.json"
    })
    void anotherRunOrAttemptHasAnotherKey(String name, String value) {
        Map<String, String> other = torchrun(0);
        other.put(name, value);

        assertThat(meet(other).key()).isNotEqualTo(meet(torchrun(0)).key());
    }

    @Test
    void everyMissingOrWrongVariableIsNamedAtOnce() {
        Map<String, String> environment = torchrun(0);
        environment.remove("RANK");
        environment.remove("MASTER_ADDR");
        environment.put("WORLD_SIZE", "many");
        environment.put("LOCAL_RANK", "9");
        environment.put("MASTER_PORT", "70000");

        assertThatThrownBy(() -> meet(environment))
                .isInstanceOf(LarderException.class)
                .hasMessageContainingAll(
                        "RANK is not set",
                        "MASTER_ADDR is not set",
                        "WORLD_SIZE='many' is not a number",
                        "LOCAL_RANK=9 is not below LOCAL_WORLD_SIZE=4",
                        "MASTER_PORT=70000 is no port",
                        "larder launch -n N");
    }

    @ParameterizedTest
    @CsvSource({"RANK, 4, RANK=4 is not below WORLD_SIZE=4", "LOCAL_WORLD_SIZE, 5, LOCAL_WORLD_SIZE=5 is not from 1"})
    void numbersThatDoNotFitAreNamed(String name, String value, String message) {
        Map<String, String> environment = torchrun(0);
        environment.put(name, value);

        assertThatThrownBy(() -> meet(environment)).hasMessageContaining(message);
    }

    private static Map<String, String> ofNode(int rank, int localRank, int localWorldSize, int node) {
        Map<String, String> environment = torchrun(rank);
        environment.put("LOCAL_RANK", Integer.toString(localRank));
        environment.put("LOCAL_WORLD_SIZE", Integer.toString(localWorldSize));
        environment.put("GROUP_RANK", Integer.toString(node));
        environment.put("GROUP_WORLD_SIZE", "2");
        environment.put("TORCHELASTIC_RUN_ID", "run-7");
        environment.put("TORCHELASTIC_ERROR_FILE", "/tmp/of-node-" + node + "/attempt_0/" + rank + "/error.json");
        return environment;
    }

    @Test
    void ranksOfSeveralNodesHaveOneKeyWhateverFolderTheirNodeHas() {
        RendezvousResult first = meet(ofNode(0, 0, 3, 0));
        RendezvousResult last = meet(ofNode(3, 0, 1, 1));

        assertThat(first).isEqualTo(new RendezvousResult(0, 4, 0, 3, 0, 2, first.key()));
        assertThat(last).isEqualTo(new RendezvousResult(3, 4, 0, 1, 1, 2, first.key()));
    }

    @Test
    void nodesOfEqualSizeNeedNoNumbers() {
        Map<String, String> environment = ofNode(3, 1, 2, 0);
        environment.remove("GROUP_RANK");
        environment.remove("GROUP_WORLD_SIZE");

        assertThat(meet(environment))
                .extracting(RendezvousResult::node, RendezvousResult::nodes)
                .containsExactly(1, 2);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "GROUP_RANK | 2 | GROUP_RANK=2 is not below GROUP_WORLD_SIZE=2",
                "GROUP_RANK | 0 | GROUP_RANK=0 does not fit RANK less LOCAL_RANK, which is 3",
                "GROUP_WORLD_SIZE | 1 | GROUP_WORLD_SIZE=1, but LOCAL_WORLD_SIZE is not WORLD_SIZE",
            })
    void numbersOfNodesThatDoNotFitAreNamed(String name, String value, String message) {
        Map<String, String> environment = ofNode(3, 0, 1, 1);
        environment.put(name, value);

        assertThatThrownBy(() -> meet(environment)).hasMessageContaining(message);
    }

    @Test
    void nodesOfUnequalSizeHaveToBeNumbered() {
        Map<String, String> environment = ofNode(3, 0, 1, 1);
        environment.put("LOCAL_WORLD_SIZE", "3");
        environment.remove("GROUP_RANK");

        assertThatThrownBy(() -> meet(environment)).hasMessageContaining("GROUP_RANK and GROUP_WORLD_SIZE are not set");
    }

    @Test
    void otherMachinesNeedTheSecret() {
        Map<String, String> environment = ofNode(1, 1, 2, 0);
        environment.remove("TORCHELASTIC_RUN_ID");
        environment.put("MASTER_ADDR", "192.0.2.1");

        assertThatThrownBy(() -> meet(environment))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining("the run has no secret: address=192.0.2.1:29500")
                .hasMessageContaining("export LARDER_RDZV_SECRET=$(openssl rand -hex 32)");
        environment.put("LARDER_RDZV_SECRET", "short");
        assertThatThrownBy(() -> meet(environment)).hasMessageContaining("too short: characters=5");
    }

    @Test
    void leadersMeetBesideTheStoreOfAnAgent() {
        Map<String, String> environment = ofNode(3, 0, 1, 1);
        assertThat(NodeMeeting.place(environment)).isEqualTo(new Endpoint("127.0.0.1", 29500));
        environment.put("TORCHELASTIC_USE_AGENT_STORE", "True");
        assertThat(NodeMeeting.place(environment).port()).isEqualTo(29501);
    }

    @Test
    void withoutALauncherThatNamesTheRunRanksMeetByTcp() {
        Map<String, String> environment = torchrun(1);
        environment.remove("TORCHELASTIC_RUN_ID");
        environment.remove("LOCAL_RANK");
        environment.remove("LOCAL_WORLD_SIZE");

        assertThatThrownBy(() -> meet(environment)).hasMessageContaining("missing=0 address=127.0.0.1:29500");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "mpi://x | unknown rendezvous scheme",
                "env://host | env:// names no place",
                "tcp://127.0.0.1?rank=0&world_size=2 | not a host and a port",
                "tcp://127.0.0.1:0?rank=0&world_size=2 | not a host and a port",
                "tcp://:29500?rank=0&world_size=2 | not a host and a port",
                "tcp://127.0.0.1:29500 | the address lacks rank",
                "tcp://127.0.0.1:29500?rank=0 | the address lacks world_size",
                "tcp://127.0.0.1:29500?rank=x&world_size=2 | not a number",
                "tcp://127.0.0.1:29500?rank=0&rank=1 | parameter given twice",
                "tcp://127.0.0.1:29500?size=2 | no such rendezvous parameter",
                "file://relative?rank=0&world_size=2 | not the absolute path",
            })
    void anAddressThatMakesNoSenseIsToldOf(String url, String message) {
        assertThatThrownBy(() -> Rendezvous.meet(url, SHORT))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining(message)
                .hasMessageContaining(url);
    }

    @ParameterizedTest
    @CsvSource({"2, 2, bad rank", "-1, 2, not a number", "0, 0, bad world size", "0, 5000, bad world size"})
    void aSeatThatCannotBeIsToldOf(int rank, int worldSize, String message) {
        assertThatThrownBy(() -> Rendezvous.meet("tcp://127.0.0.1:29500", rank, worldSize, SHORT))
                .isInstanceOf(LarderException.class)
                .hasMessageContaining(message);
    }

    @Test
    void rankAndWorldSizeMayStandBesideTheAddressButNotDiffer() {
        assertThatThrownBy(() -> Rendezvous.meet("tcp://127.0.0.1:29500?rank=1", 0, 2, SHORT))
                .hasMessageContaining("names another rank");
        assertThat(Rendezvous.meet("tcp://127.0.0.1:29500", 0, 1, Duration.ofMinutes(1))
                        .worldSize())
                .isEqualTo(1);
    }
}
