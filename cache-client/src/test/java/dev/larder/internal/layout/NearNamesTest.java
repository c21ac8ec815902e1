package dev.larder.internal.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearNamesTest {
    private static final List<String> KNOWN =
            List.of("mnist", "fashion-mnist", "mnist-small", "cifar10", "cifar100", "scannet");

    @ParameterizedTest
    @CsvSource({
        "mnit, mnist",
        "minst, mnist",
        "fashion, fashion-mnist",
        "cifar, cifar10|cifar100",
        "cifar1000, cifar100|cifar10",
        "scanet, scannet",
        "MNIST, ''",
        "imagenet, ''",
        "x, ''"
    })
    void namesWithinAThirdOfTheLengthOrWithTheSameBeginningAreNear(String name, String expected) {
        assertThat(String.join("|", NearNames.of(name, KNOWN))).isEqualTo(expected);
    }

    @Test
    void atMostThreeAreNamedNearestFirst() {
        assertThat(NearNames.of("data", List.of("data4", "data33", "data", "data222", "data1")))
                .containsExactly("data", "data1", "data4");
        assertThat(NearNames.of("data", List.of())).isEmpty();
    }

    @Test
    void nearNamesAreSaidFirstAndThenAllWhereTheyAreFew() {
        List<String> many =
                IntStream.range(0, 12).mapToObj(i -> "part-" + (char) ('a' + i)).toList();

        assertThat(NearNames.insteadOf("labls", List.of("images", "labels")))
                .isEqualTo("did you mean labels? there are images, labels");
        assertThat(NearNames.insteadOf("rows", List.of("images", "labels"))).isEqualTo("there are images, labels");
        assertThat(NearNames.insteadOf("labls", List.of("labels"))).isEqualTo("did you mean labels?");
        assertThat(NearNames.insteadOf("labels", List.of())).isEqualTo("there are none");
        assertThat(NearNames.insteadOf("part-x", many)).isEqualTo("did you mean part-a, part-b, part-c? there are 12");
        assertThat(NearNames.insteadOf("nothing-like-it", many))
                .startsWith("there are part-a, ")
                .endsWith("part-j, … (12)");
    }

    @Test
    void ofVeryManyNamesOnlyTheFirstAreLookedAt() {
        List<String> many = new ArrayList<>(Collections.nCopies(10_000, "x"));
        many.set(9_999, "label");
        many.add("labels");

        assertThat(NearNames.of("labels", many)).containsExactly("label");
    }

    @Test
    void longNamesAreCutAndNoneHasNoneNearIt() {
        List<String> many = IntStream.range(0, 10_000)
                .mapToObj(i -> "train/a-folder-with-a-long-name/part-of-the-whole-%07d".formatted(i))
                .toList();

        assertThat(NearNames.of(many.get(5_000) + "x", many)).hasSize(3).first().isEqualTo(many.get(5_000));
        assertThat(NearNames.of("x".repeat(1 << 20), many)).isEmpty();
        assertThat(NearNames.insteadOf("", many)).startsWith("there are ");
    }

    @ParameterizedTest
    @CsvSource({
        "'', '', 0",
        "a, '', 1",
        "'', abc, 3",
        "kitten, sitting, 3",
        "flaw, lawn, 2",
        "größe, grosse, 3",
        "minst, mnist, 1",
        "ab, ba, 1",
        "abcd, badc, 2",
        "a, a, 0"
    })
    void distanceCountsEdits(String a, String b, int expected) {
        assertThat(NearNames.distance(a, b)).isEqualTo(expected);
        assertThat(NearNames.distance(b, a)).isEqualTo(expected);
    }
}
