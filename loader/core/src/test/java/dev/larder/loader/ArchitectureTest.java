package dev.larder.loader;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static dev.larder.testing.Signatures.nameNoTypeOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Holds the rooms that batches come through, and the border between them and what trainers use. */
class ArchitectureTest {
    private static final String API = "dev.larder.loader";
    private static final String ROOMS = API + ".internal.";
    private static final int MOST_CLASSES = 30;

    /** The rooms, and which others each of them may use. */
    private static final Map<String, List<String>> USES = Map.ofEntries(
            Map.entry("sample", List.of()),
            Map.entry("image", List.of("device")),
            Map.entry("device", List.of()),
            Map.entry("device.fake", List.of("device")),
            Map.entry("cuda", List.of("device")),
            Map.entry("transform", List.of("sample", "image", "device")),
            Map.entry("slot", List.of("transform", "device")),
            Map.entry("field", List.of("sample", "slot", "image", "transform", "device")),
            Map.entry("plan", List.of("sample", "slot")),
            Map.entry("ring", List.of("slot", "field", "plan", "image", "device")),
            Map.entry("upload", List.of("transform", "slot", "field", "plan", "ring", "device")));

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(API);

    @TestFactory
    Stream<DynamicTest> aRoomUsesOnlyThoseBeforeItAndNeverTheApi() {
        return USES.entrySet().stream()
                .map(room -> DynamicTest.dynamicTest(
                        room.getKey(),
                        () -> noClasses()
                                .that()
                                .resideInAPackage(ROOMS + room.getKey())
                                .should()
                                .dependOnClassesThat(resideInAnyPackage(others(room.getKey(), room.getValue())))
                                .check(CLASSES)));
    }

    /** Lists what a room may not use. */
    private static String[] others(String room, List<String> used) {
        Stream<String> rooms = USES.keySet().stream()
                .filter(other -> !other.equals(room) && !used.contains(other))
                .map(other -> ROOMS + other);
        return Stream.concat(Stream.of(API, API + ".fanout"), rooms).toArray(String[]::new);
    }

    @Test
    void everyRoomIsNamedHereAndWhatLiesBelowKnowsOnlyTheFirst() {
        classes()
                .that()
                .resideInAPackage(API + ".internal..")
                .should()
                .resideInAnyPackage(USES.keySet().stream().map(ROOMS::concat).toArray(String[]::new))
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAnyPackage(API + ".sample..", API + ".transform..", API + ".device..")
                .should()
                .dependOnClassesThat(resideInAnyPackage(API, API + ".fanout", API + ".internal..")
                        .and(not(resideInAPackage(ROOMS + "sample"))))
                .check(CLASSES);
    }

    @Test
    void noSignatureOfWhatTrainersUseNamesARoom() {
        classes()
                .that()
                .resideOutsideOfPackage(API + ".internal..")
                .and()
                .arePublic()
                .should(nameNoTypeOf(API + ".internal.."))
                .check(CLASSES);
    }

    @Test
    void noRoomHasMoreClassesThanAReaderKeepsInMind() {
        Map<String, Long> sizes = CLASSES.stream()
                .filter(type -> type.isTopLevelClass() && type.getPackageName().startsWith(ROOMS))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
        assertThat(sizes).hasSize(USES.size());
        assertThat(sizes.values()).allSatisfy(size -> assertThat(size).isLessThanOrEqualTo(MOST_CLASSES));
    }
}
