package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.larder.command.doctor.DeviceQuestion;
import dev.larder.command.doctor.Probes.DeviceAnswer;
import dev.larder.command.doctor.Probes.DeviceAnswer.Ending;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.testing.LeavesNothingBehind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each machine is made up by its environment, so each command is a process of its own. */
@Timeout(300)
class DevicesTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    /** A folder without drivers, so that the machine's own devices stay out of it. */
    private static final String NO_DRIVERS = "OCL_ICD_VENDORS=/larder-has-no-such-folder/";

    private static CommandProcess devices(List<String> environment, String... options) {
        List<String> starter = new ArrayList<>(List.of("env", NO_DRIVERS));
        starter.addAll(environment);
        List<String> words = new ArrayList<>(List.of("devices"));
        words.addAll(List.of(options));
        return CommandProcess.by(starter, LeavesNothingBehind.newStore(), words.toArray(String[]::new));
    }

    private static DeviceAnswer ask(String machine, Duration patience) {
        List<String> command = new ArrayList<>(List.of("env", NO_DRIVERS, MadeUpDevices.VARIABLE + "=" + machine));
        command.addAll(DeviceQuestion.ofThisCommand().command());
        return new DeviceQuestion(command, patience).ask();
    }

    @ParameterizedTest
    @CsvSource({
        "LOCAL_RANK=0, Quick",
        "LOCAL_RANK=1, Quicker",
        "LARDER_DEVICE=quicker, Quicker",
        "LARDER_DEVICE=0, Quick"
    })
    void aStarMarksTheDeviceThatIsTakenNow(String environment, String name) {
        try (CommandProcess devices = devices(List.of(environment, MadeUpDevices.VARIABLE + "=gpu"))) {
            assertThat(devices.exitCode()).as(devices.err()).isZero();

            assertThat(devices.err()).isEmpty();
            assertThat(devices.out().lines()).hasSize(3);
            assertThat(devices.out().lines().filter(line -> line.startsWith("*")))
                    .singleElement()
                    .asString()
                    .matches("\\* +\\d +made-up +gpu +" + name + " +3\\.0 GiB +1\\.0 GiB +8 +1\\.2 +Platform 3");
        }
    }

    @Test
    void jsonHasEverythingKnownOfADevice() {
        try (CommandProcess devices = devices(List.of(MadeUpDevices.VARIABLE + "=gpu"), "--json")) {
            assertThat(devices.exitCode()).as(devices.err()).isZero();
            JsonArray list = JsonParser.parseString(devices.out()).getAsJsonArray();
            JsonObject first = list.get(0).getAsJsonObject();

            assertThat(list).hasSize(2);
            assertThat(Arrays.stream(DeviceInfo.class.getRecordComponents()).map(part -> part.getName()))
                    .isSubsetOf(first.keySet());
            assertThat(first.get("memoryBytes").getAsLong()).isEqualTo(3L << 30);
            assertThat(first.get("auto").getAsBoolean()).isTrue();
            assertThat(list.get(1).getAsJsonObject().get("auto").getAsBoolean()).isFalse();
        }
    }

    @Test
    void withoutADeviceOneLineSaysWhatToDo() {
        try (CommandProcess table = devices(List.of());
                CommandProcess json = devices(List.of(), "--json")) {
            assertThat(table.exitCode()).as(table.err()).isZero();
            assertThat(table.out()).isEmpty();
            assertThat(table.err())
                    .startsWith("larder: batches stay in host memory: ")
                    .hasLineCount(1);
            assertThat(json.exitCode()).as(json.err()).isZero();
            assertThat(json.out().strip()).isEqualTo("[]");
        }
    }

    @ParameterizedTest
    @CsvSource({"LARDER_DEVICE=host, $LARDER_DEVICE says so", "LARDER_DEVICE=9, wanted=index 9"})
    void whereNoneIsTakenTheReasonIsTold(String environment, String reason) {
        try (CommandProcess devices = devices(List.of(environment, MadeUpDevices.VARIABLE + "=gpu"))) {
            assertThat(devices.exitCode()).as(devices.err()).isZero();
            assertThat(devices.out()).doesNotContain("*").hasLineCount(3);
            assertThat(devices.err())
                    .startsWith("larder: batches stay in host memory: ")
                    .contains(reason);
        }
    }

    @Test
    void theDoctorsQuestionListsDevicesWithTheirLimits() {
        assertThat(ask("gpu", LONG))
                .isEqualTo(DeviceAnswer.listed(List.of(
                        "made-up:0 Quick kind=gpu memory=3.0 GiB largestAllocation=1.0 GiB units=8",
                        "made-up:1 Quicker kind=gpu memory=3.0 GiB largestAllocation=1.0 GiB units=8")));
        assertThat(ask("", LONG)).isEqualTo(DeviceAnswer.listed(List.of()));
    }

    @Test
    void theDoctorsQuestionOutlivesADriverThatCrashesOrHangs() {
        assertThat(ask("crash", LONG)).isEqualTo(DeviceAnswer.without(Ending.DIED, "exitCode=134"));
        assertThat(ask("hang", Duration.ofSeconds(3))).isEqualTo(DeviceAnswer.without(Ending.SILENT, "waited=3s"));
    }

    @Test
    void aQuestionThatIsRefusedOrAnsweredOddlyIsTold() {
        List<String> refused = List.of("sh", "-c", "echo odd >&2; echo reason >&2; exit 4");

        assertThat(new DeviceQuestion(refused, LONG).ask())
                .isEqualTo(DeviceAnswer.without(Ending.REFUSED, "exitCode=4 said=reason"));
        assertThat(new DeviceQuestion(List.of("echo", "{"), LONG).ask().ending())
                .isEqualTo(Ending.REFUSED);
        assertThat(new DeviceQuestion(List.of("/larder/none"), LONG).ask().ending())
                .isEqualTo(Ending.REFUSED);
    }
}
