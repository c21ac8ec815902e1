package dev.larder.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.junit.jupiter.api.Test;

class BadSourceTest {
    @Test
    void whatMayNotBeReadOrIsGoneIsNotCalledDamage() {
        Throwable denied = new IllegalStateException("a library", new AccessDeniedException("/data/x.h5"));
        Throwable gone = new UncheckedIOException(new NoSuchFileException("/data/x.h5"));

        assertThat(BadSource.unreadable(0, "", denied)).hasMessage("permission denied");
        assertThat(BadSource.unreadable(0, "", gone)).hasMessage("it does not exist");
        assertThat(BadSource.unreadable(0, "", denied).remedy()).isEqualTo("check that the file is there and readable");
    }

    @Test
    void whatTakesTooMuchMemoryMayBeLargeOrDamaged() {
        Throwable full =
                new IllegalStateException(new OutOfMemoryError("Cannot reserve 3 bytes of direct buffer memory"));

        assertThat(BadSource.unreadable(0, "x", full).remedy())
                .isEqualTo("give it more: LARDER_READER_HEAP=SIZE; if the file is small, it is damaged");
    }

    @Test
    void columnsThatCanBeLoadedAreNamedAsTheCommandTakesThem() {
        RefusedColumns refused = new RefusedColumns();
        refused.add(0, "a/bad", "it is so");

        assertThatThrownBy(() -> refused.requireNone(List.of("good", "bad", "a/b c", "x,y")))
                .isInstanceOfSatisfying(
                        BadSource.class,
                        e -> assertThat(e.remedy()).isEqualTo("load others with --columns good,a/b_c,x_y"))
                .hasMessage("it is so");
    }

    @Test
    void otherColumnsAreAdvisedOnlyIfThereAreAny() {
        RefusedColumns refused = new RefusedColumns();
        refused.add(0, "bad", "it is so");

        assertThatThrownBy(() -> refused.requireNone(List.of()))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).isEqualTo("leave the file out with --exclude"));
        refused.unwanted();
        assertThatThrownBy(() -> refused.requireNone(List.of()))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).isEqualTo("name other columns with --columns"));
    }

    @Test
    void veryManyRefusedColumnsAreToldInFewWords() {
        RefusedColumns refused = new RefusedColumns();
        for (int i = 0; i < 10_000; i++) {
            refused.add(0, "bad" + i, "because ".repeat(1000));
        }

        assertThatThrownBy(() -> refused.requireNone(List.of("x".repeat(10_000), "good")))
                .isInstanceOfSatisfying(
                        BadSource.class, e -> assertThat(e.remedy()).isEqualTo("load others with --columns good"))
                .hasMessageStartingWith("10000 columns cannot be read: bad0 (because")
                .hasMessageEndingWith("and 9980 more")
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(10_000));
    }
}
