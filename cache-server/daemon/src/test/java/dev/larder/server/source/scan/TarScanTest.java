package dev.larder.server.source.scan;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.testing.Rounds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.archivers.tar.TarConstants;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TarScanTest {
    private static final long SEED = 20_260_102;

    @TempDir
    Path folder;

    /** Returns an archive of files: names and contents in turns. */
    static byte[] tar(String... members) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out, "UTF-8")) {
            tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
            for (int i = 0; i < members.length; i += 2) {
                byte[] content = members[i + 1].getBytes(UTF_8);
                TarArchiveEntry entry = new TarArchiveEntry(members[i]);
                entry.setSize(content.length);
                tar.putArchiveEntry(entry);
                tar.write(content);
                tar.closeArchiveEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    private Path write(String name, byte[] content) {
        return SourceFiles.write(folder.resolve(name), name.endsWith("gz") ? SourceFiles.gzip(content) : content);
    }

    private static ScannedSource scan(Path path, String... keys) {
        return ScannedSource.scan("d", path, new SourceOptions(List.of(keys)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.tar", "a.tar.gz", "a.tgz", "A.TAR"})
    void eachSuffixBecomesAColumn(String name) throws IOException {
        Path file = write(
                name,
                tar(
                        "./x/0001.jpg",
                        "first",
                        "./x/0001.cls",
                        "7\n",
                        "./x/0001.meta.json",
                        "{\"a\": \"ä\"}",
                        "x/0002.JPG",
                        "",
                        "x/0002.cls",
                        "-2",
                        "x/0002.meta.json",
                        "{}",
                        "README",
                        "no sample",
                        "x/._0002.jpg",
                        "hidden"));
        ScannedSource source = scan(file);

        assertThat(source.arrays())
                .extracting(array -> array.name().array())
                .containsExactly(
                        "cls",
                        "jpg/offsets",
                        "jpg/values",
                        "key/positions",
                        "key/records",
                        "key/slots",
                        "keys/bytes",
                        "keys/offsets",
                        "meta.json/bytes",
                        "meta.json/offsets");
        assertThat(SourceFiles.text(source, "jpg/values")).isEqualTo("first");
        assertThat(SourceFiles.longs(source, "jpg/offsets")).containsExactly(0L, 5L, 5L);
        assertThat(SourceFiles.longs(source, "cls")).containsExactly(7L, -2L);
        assertThat(SourceFiles.text(source, "meta.json/bytes")).isEqualTo("{\"a\": \"ä\"}{}");
        assertThat(SourceFiles.text(source, "keys/bytes")).isEqualTo("x/0001x/0002");
        SourceFiles.release(source);
    }

    @Test
    void archivesOfAFolderFollowEachOtherAndFoldersBelowAreLevels() throws IOException {
        write("train/b-1.tar", tar("2.bin", "second", "2.cls", "2"));
        write("train/b-0.tar", tar("1.bin", "first", "1.cls", "1"));
        write("val/c.tar", tar("1.bin", "other", "1.cls", "9"));
        SourceFiles.write(folder.resolve("notes.md"), new byte[1]);
        ScannedSource source = scan(folder);

        assertThat(SourceFiles.text(source, "train/bin/values")).isEqualTo("firstsecond");
        assertThat(SourceFiles.longs(source, "train/cls")).containsExactly(1L, 2L);
        assertThat(SourceFiles.text(source, "train/keys/bytes")).isEqualTo("12");
        assertThat(SourceFiles.longs(source, "val/cls")).containsExactly(9L);
        assertThat(SourceFiles.array(source, "train/bin/values").files()).hasSize(2);
        assertThat(source.skippedFiles()).isEqualTo(1);
        SourceFiles.release(source);
    }

    @Test
    void whereArchivesHaveTheSameKeysTheirNamesComeBefore() throws IOException {
        write("s-0.tar", tar("000.txt", "a"));
        write("s-1.tar", tar("000.txt", "b"));
        ScannedSource source = scan(folder);

        assertThat(SourceFiles.text(source, "keys/bytes")).isEqualTo("s-0/000s-1/000");
        assertThat(SourceFiles.longs(source, "key/positions")).hasSize(2);
        SourceFiles.release(source);
    }

    @Test
    void besideArraysArchivesAreSkippedAndCounted() {
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 2);
        write("b.tar", tar("1.bin", "x"));
        ScannedSource source = scan(folder);

        assertThat(source.arrays()).extracting(array -> array.name().array()).containsExactly("a");
        assertThat(source.skippedFiles()).isEqualTo(1);
        SourceFiles.release(source);
    }

    @Test
    void keysChooseColumnsAndWhatOthersLackDoesNotMatter() throws IOException {
        Path file = write("a.tar", tar("1.jpg", "x", "1.cls", "1", "2.jpg", "y"));

        assertThatThrownBy(() -> scan(file)).hasMessageContaining("sample 2 has no file .cls");
        ScannedSource source = scan(file, "jpg");
        assertThat(SourceFiles.text(source, "jpg/values")).isEqualTo("xy");
        SourceFiles.release(source);
    }

    @ParameterizedTest
    @CsvSource({"a.tar, '[jpg, cls]'", "a.tar.gz, '[jpg, cls]'", "shards/a.tar, '[shards/jpg, shards/cls]'"})
    void aColumnThatNoSampleHasIsRefusedBesideThoseThatAre(String name, String present) throws IOException {
        write(name, tar("1.jpg", "x", "1.cls", "1"));

        assertThatThrownBy(() -> scan(name.contains("/") ? folder : folder.resolve(name), "jpg", "nope"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("it has no columns [nope], but " + present + ";");
    }

    @Test
    void whereNoKindHasAllColumnsNoneIsTakenInPart() throws IOException {
        write("all.tar", tar("1.jpg", "x"));
        SourceFiles.write(folder.resolve("pandas.parquet"), new byte[1]);

        assertThatThrownBy(() -> scan(folder, "jpg", "s")).hasMessageContaining("it has no columns [s], but [jpg]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0.jpg;x;0.cls;1;1.jpg;y;2.jpg;z;2.cls;3 | sample 1 has no file .cls, and others with a file .jpg have one",
                "0.jpg;x;1.jpg;y;1.cls;3                 | sample 0 has no file .cls, and others with a file .jpg have one"
            })
    void aSampleThatLacksAColumnThatIsAskedForIsRefused(String members, String message) {
        Path file = write("a.tar", tar(members.strip().split(";", -1)));

        assertThatThrownBy(() -> scan(file, "cls"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(message);
    }

    @Test
    void whatHasNothingInCommonWithSamplesIsSkippedAndCounted() throws IOException {
        Path file = write("a.tar", tar("README.md", "r", "1.jpg", "x", "1.cls", "1", "2.jpg", "y", "2.cls", "2"));
        ScannedSource source = scan(file, "cls");

        assertThat(SourceFiles.longs(source, "cls")).containsExactly(1L, 2L);
        assertThat(source.notes()).containsExactly("skipped 1 samples in archives that have none of the columns");
        SourceFiles.release(source);
    }

    @Test
    void columnsOfOneFolderAreChosenByItsLevel() throws IOException {
        write("train/a.tar", tar("1.jpg", "x", "1.cls", "1"));
        write("val/a.tar", tar("1.jpg", "y", "1.cls", "2"));
        ScannedSource one = scan(folder, "val/cls");
        ScannedSource split = scan(folder, "train");

        assertThat(one.arrays())
                .extracting(array -> array.name().array())
                .filteredOn(name -> !name.contains("key"))
                .containsExactly("val/cls");
        assertThat(split.arrays()).allMatch(array -> array.name().array().startsWith("train/"));
        assertThat(SourceFiles.text(split, "train/jpg/values")).isEqualTo("x");
        SourceFiles.release(one);
        SourceFiles.release(split);
        assertThatThrownBy(() -> scan(folder, "test/cls")).hasMessageContaining("it has no columns [test/cls]");
    }

    @Test
    void aKeyTwiceInOneOfSeveralArchivesIsNamedWithBothPlaces() {
        write("s-0.tar", tar("1.txt", "a", "2.txt", "b"));
        write("s-1.tar", tar("2.txt", "b", "1.txt", "a", "2.txt", "c"));

        assertThatThrownBy(() -> scan(folder))
                .hasMessageContaining("s-1.tar")
                .hasMessageContaining("a key is there twice: 2 is sample 0 of s-1.tar and sample 2 of s-1.tar");
    }

    @Test
    void longNamesAndLongMembersAreRead() throws IOException {
        String name = "long/".repeat(60) + "1";
        String content = "z".repeat(100_000);
        ScannedSource source = scan(write("a.tar", tar(name + ".bin", content, name + ".txt", "t")));

        assertThat(SourceFiles.text(source, "bin/values")).isEqualTo(content);
        assertThat(SourceFiles.text(source, "keys/bytes")).isEqualTo(name);
        SourceFiles.release(source);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1.jpg;x;2.jpg;y;2.cls;3 | sample 2 has a file .cls, and those before it have none",
                "1.jpg;x;1.jpg;y         | sample 1 has two files .jpg",
                "1.jpg;x;2.jpg;y;1.jpg;z | a key is there twice: 1 is sample 0 of a.tar and sample 2 of a.tar",
                "1.cls;cat               | member 1.cls: it is not a whole number: cat",
                "1.key;x                 | a column cannot be called key",
                "1.a b;x                 | a column cannot be called a b",
                "README;x                | no file in it is called KEY.SUFFIX"
            })
    void whatIsNoSampleIsRefusedByName(String members, String message) {
        Path file = write("a.tar", tar(members.strip().split(";", -1)));

        assertThatThrownBy(() -> scan(file))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining(message);
    }

    @Test
    void aTextThatIsNotUtf8IsRefused() {
        byte[] archive = tar("1.txt", "xx");
        archive[512] = (byte) 0xff;

        assertThatThrownBy(() -> scan(write("a.tar", archive))).hasMessageContaining("member 1.txt: it is not UTF-8");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.tar", "a.tar.gz"})
    void anArchiveThatWasCutOffIsRefused(String name) {
        byte[] archive = Arrays.copyOf(tar("1.bin", "z".repeat(5000)), 3000);

        assertThatThrownBy(() -> scan(write(name, archive)))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT));
    }

    @Test
    void aMemberThatIsCutOffTakesNoMoreMemoryThanThereIsOfIt() {
        byte[] archive = new byte[2048];
        TarArchiveEntry entry = new TarArchiveEntry("1.bin");
        entry.setSize(1 << 30); // more than the heap of tests
        entry.writeEntryHeader(archive);

        assertThatThrownBy(() -> scan(write("a.tar.gz", archive))).hasMessageContaining("it ends within 1.bin");
    }

    @Test
    void whatIsNoArchiveIsRefusedInOurWords() {
        byte[] noise = new byte[2048];
        new Random(SEED).nextBytes(noise);
        byte[] archive = tar("1.bin", "x", "2.bin", "y");
        System.arraycopy(noise, 0, archive, 1024, 512);

        assertThatThrownBy(() -> scan(write("a.tar", noise)))
                .hasMessageEndingWith(
                        "offset=0 reason=it is no tar archive: it does not begin with the header of a member;"
                                + " restore the file or write it again, or leave it out of its folder with --exclude");
        assertThatThrownBy(() -> scan(write("b.tar", archive)))
                .hasMessageContaining("offset=1024 reason=the header of its next member is damaged;");
        assertThatThrownBy(() -> scan(SourceFiles.write(folder.resolve("c.tar.gz"), noise)))
                .hasMessageContaining("its compressed data is corrupt");
    }

    @Test
    void linksAndFoldersAreLeftOutAndLinksAreCounted() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(out)) {
            tar.putArchiveEntry(new TarArchiveEntry("folder.d/"));
            tar.closeArchiveEntry();
            TarArchiveEntry link = new TarArchiveEntry("1.bin", TarConstants.LF_SYMLINK);
            link.setLinkName("/etc/passwd");
            tar.putArchiveEntry(link);
            tar.closeArchiveEntry();
            TarArchiveEntry hard = new TarArchiveEntry("3.bin", TarConstants.LF_LINK);
            hard.setLinkName("2.bin");
            tar.putArchiveEntry(hard);
            tar.closeArchiveEntry();
            TarArchiveEntry entry = new TarArchiveEntry("2.bin");
            entry.setSize(1);
            tar.putArchiveEntry(entry);
            tar.write('x');
            tar.closeArchiveEntry();
        }
        ScannedSource source = scan(write("a.tar", out.toByteArray()));

        assertThat(SourceFiles.text(source, "keys/bytes")).isEqualTo("2");
        assertThat(ScannedSource.notes(List.of(source)))
                .containsExactly("skipped 2 links in archives; tar --dereference --hard-dereference packs the files");
        SourceFiles.release(source);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a.tar", "a.tar.gz"})
    void spoiledArchivesAreReadOrRefusedAndNothingElse(String name) {
        byte[] good = tar("1.bin", "x".repeat(700), "1.cls", "1", "1.txt", "ä", "n".repeat(150) + ".bin", "y");
        Rounds rounds = Rounds.of("spoiled archives " + name, 200, SEED);
        Random random = rounds.random();
        for (int round = 0; round < rounds.count(); round++) {
            byte[] spoiled = good.clone();
            for (int i = random.nextInt(8); i >= 0; i--) {
                spoiled[random.nextInt(spoiled.length)] = (byte) random.nextInt(256);
            }
            byte[] content = random.nextInt(4) > 0 ? spoiled : Arrays.copyOf(spoiled, random.nextInt(spoiled.length));
            try {
                ScannedSource source = scan(write(name, content));
                for (SourceArray array : source.arrays()) {
                    assertThat(SourceFiles.data(array)).hasSize((int) array.byteSize());
                }
                SourceFiles.release(source);
            } catch (LarderException e) {
                assertThat(e.code()).as(rounds + " round=" + round + " " + e).isEqualTo(ErrorCode.BAD_INPUT);
            } catch (IOException | RuntimeException e) {
                throw new AssertionError(rounds + " round=" + round, e);
            }
        }
    }
}
