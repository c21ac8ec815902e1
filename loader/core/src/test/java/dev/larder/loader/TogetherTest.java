package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.fake.FakeDevice;
import dev.larder.loader.transform.Transform;
import dev.larder.testing.FixtureArray;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random steps of two fields draw apart, as two views of one image have to, unless both are of a group, as an image and its mask. */
class TogetherTest {
    private static final int ROWS = 120;
    private static final Transform CROP = new Transform().randomCrop(8, 8, 3).randomFlip(0.5f);
    private static final byte[] NOISE = Shelf.noiseBytes(ROWS * 64);

    private final Shelf shelf = Shelf.of(Map.of(
            "images", FixtureArray.bytes(NOISE, ROWS, 8, 8),
            "masks", FixtureArray.bytes(NOISE, ROWS, 8, 8)));

    @AfterEach
    void close() {
        shelf.close();
    }

    private LoaderBuilder views() {
        return fields(
                Field.rows("images").as("view1").transform(CROP),
                Field.rows("images").as("view2").transform(CROP));
    }

    private LoaderBuilder pairs() {
        return fields(
                Field.rows("images").transform(CROP).together("crop"),
                Field.rows("masks").transform(CROP).together("crop"));
    }

    /** The image is computed with before, between and after the moves that its mask has as well. */
    private LoaderBuilder pairsOfDifferentSteps() {
        Transform image = new Transform()
                .toFloat()
                .map((values, shape, random) -> values[0] += random.nextFloat() * 0)
                .randomCrop(8, 8, 3)
                .scale(255, 0)
                .randomFlip(0.5f)
                .cast("|u1");
        return fields(
                Field.rows("images").transform(image).together("crop"),
                Field.rows("masks").transform(CROP).together("crop"));
    }

    private LoaderBuilder pairsForKernels() {
        return fields(
                Field.rows("images")
                        .transform(new Transform()
                                .cast("<f4")
                                .randomCrop(8, 8, 3)
                                .scale(1, 0)
                                .randomFlip(0.5f)
                                .cast("|u1"))
                        .together("crop"),
                Field.rows("masks").transform(CROP).together("crop"));
    }

    private LoaderBuilder fields(Field... fields) {
        return Loader.over(shelf.dataset).fields(fields).shuffle(7).batchSize(20);
    }

    private static int samplesThatAreEqual(Batch batch) {
        int equal = 0;
        for (int i = 0; i < batch.size(); i++) {
            boolean same = true;
            for (int at = i * 64; same && at < (i + 1) * 64; at++) {
                same = batch.array(0).buffer().getByte(at)
                        == batch.array(1).buffer().getByte(at);
            }
            equal += same ? 1 : 0;
        }
        return equal;
    }

    private static int samplesThatAreEqual(Epoch epoch) {
        int equal = 0;
        for (Batch batch : epoch) {
            equal += samplesThatAreEqual(batch);
        }
        return equal;
    }

    @Test
    void twoViewsOfAnImageAreCutOutApart() {
        try (Loader loader = views().build()) {
            for (long epoch = 0; epoch < 3; epoch++) {
                assertThat(samplesThatAreEqual(loader.epoch(epoch))).isLessThan(ROWS / 10); // 1 in 98 by chance
            }
        }
    }

    @Test
    void anImageAndItsMaskAreCutOutTogether() {
        try (Loader loader = pairs().build()) {
            for (long epoch = 0; epoch < 3; epoch++) {
                assertThat(samplesThatAreEqual(loader.epoch(epoch))).isEqualTo(ROWS);
            }
        }
    }

    @Test
    void stepsThatAreNotRandomDoNotDrawFieldsOfAGroupApart() {
        for (LoaderBuilder builder : new LoaderBuilder[] {pairsOfDifferentSteps(), pairsForKernels()}) {
            try (Loader loader = builder.build()) {
                assertThat(samplesThatAreEqual(loader.epoch(0))).isEqualTo(ROWS);
            }
        }
    }

    @Test
    void aGroupWhoseRandomStepsDifferIsRefused() {
        List<Transform> others = List.of(
                new Transform(),
                new Transform().randomCrop(8, 8, 3),
                new Transform().randomCrop(8, 8, 2).randomFlip(0.5f),
                new Transform().randomFlip(0.5f).randomCrop(8, 8, 3));
        for (Transform other : others) {
            LoaderBuilder builder = fields(
                    Field.rows("images").transform(CROP).together("crop"),
                    Field.rows("masks").transform(other).together("crop"));

            assertThatThrownBy(builder::build)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("fields of a group differ in their random steps: group=crop "
                            + "images=[randomCrop(8, 8, 3), randomFlip(0.5)] masks=[");
            assertThatThrownBy(() -> builder.device(new FakeDevice()).build())
                    .hasMessageContaining("fields of a group differ");
        }
    }

    @Test
    void whatAFieldDrawsDependsOnItsNameAloneAndNotOnOtherFields() {
        try (Loader both = views().build();
                Loader alone = fields(Field.rows("images").as("view2").transform(CROP))
                        .threads(3)
                        .build()) {
            var expected = both.epoch(1).iterator();
            for (Batch batch : alone.epoch(1)) {
                assertThat(batch.array("view2").byteBuffer())
                        .isEqualTo(expected.next().array("view2").byteBuffer());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceMode.class)
    void devicesDrawAsTheHostDoes(DeviceMode mode) {
        for (LoaderBuilder builder :
                new LoaderBuilder[] {views(), pairs(), pairsOfDifferentSteps(), pairsForKernels()}) {
            try (Loader host = builder.build();
                    Loader device =
                            builder.device(new FakeDevice()).deviceMode(mode).build()) {
                BatchChecksum checksum = new BatchChecksum();
                device.epoch(2).forEach(checksum::update);
                assertThat(checksum.value()).isEqualTo(Shelf.checksum(host.epoch(2)));
            }
        }
    }

    @Test
    void aResumedEpochDrawsAsOneThatWasNotStopped() {
        try (Loader loader = pairs().build();
                Loader other = views().build()) {
            for (Loader each : new Loader[] {loader, other}) {
                BatchChecksum whole = new BatchChecksum();
                BatchChecksum parts = new BatchChecksum();
                LoaderState[] state = {null};
                each.epoch(0).forEach(whole::update);
                var first = each.epoch(0).iterator();
                for (int i = 0; i < 2; i++) {
                    Batch batch = first.next();
                    parts.update(batch);
                    state[0] = batch.stateAfter();
                }
                each.resume(state[0]).forEach(parts::update);
                assertThat(parts.value()).isEqualTo(whole.value());
            }
        }
    }

    @Test
    void aGroupHasAName() {
        assertThatThrownBy(() -> Field.rows("images").together(""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a group needs a name: field=images");
    }
}
