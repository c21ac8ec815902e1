package dev.larder.command;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static dev.larder.testing.Signatures.nameNoTypeOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Holds the borders between packages that no compiler holds. */
class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar"))
            .withImportOption(location -> !location.contains("/message/gson/")) // not ours: in the jar of messages
            .importPackages("dev.larder");

    private static final int MOST_CLASSES = 32;

    /** What a trainer imports. */
    private static final String[] CLIENT = {
        "dev.larder.client..",
        "dev.larder.rows..",
        "dev.larder.internal..",
        "dev.larder.npy..",
        "dev.larder.error..",
        "dev.larder.message.."
    };

    /** The other modules, and what each of them may use besides itself and the client. DJL's adapter is not on this class path. */
    private static final Map<String, List<String>> MODULES = Map.of(
            "dev.larder.reader..", List.of(),
            "dev.larder.server..", List.of("dev.larder.reader.."),
            "dev.larder.loader..", List.of(),
            "dev.larder.launch..", List.of(),
            "dev.larder.cluster..", List.of("dev.larder.launch..", "dev.larder.distributed.internal.meeting"),
            "dev.larder.distributed..", List.of(),
            "dev.larder.djl..", List.of("dev.larder.loader.."),
            "dev.larder.examples..", List.of("dev.larder.loader..", "dev.larder.distributed..", "dev.larder.djl.."),
            "dev.larder.command..",
                    List.of(
                            "dev.larder.server..",
                            "dev.larder.loader..",
                            "dev.larder.launch..",
                            "dev.larder.cluster..",
                            "dev.larder.distributed.internal.meeting"));

    /** The rooms below the daemon's store, each before those that may use it. */
    private static final List<String> STORE_ROOMS =
            List.of("dev.larder.server.store.version", "dev.larder.server.store.space", "dev.larder.server.store.lock");

    /** What a trainer's own code names. */
    private static final String[] API = {
        "dev.larder.client",
        "dev.larder.rows",
        "dev.larder.npy",
        "dev.larder.error",
        "dev.larder.loader",
        "dev.larder.distributed"
    };

    private static final String[] CLIENT_LIBRARIES = {
        "java..",
        "javax..",
        "org.agrona..",
        "com.sun.jna..",
        "org.slf4j..",
        "org.jspecify..",
        "com.google.gson..",
        "jdk.jfr.."
    };

    @Test
    void everyModuleIsSeen() {
        assertThat(CLASSES.stream().map(type -> type.getPackageName()))
                .contains(
                        "dev.larder.client",
                        "dev.larder.server",
                        "dev.larder.command",
                        "dev.larder.loader",
                        "dev.larder.loader.device",
                        "dev.larder.loader.internal.cuda",
                        "dev.larder.loader.cuda.device",
                        "dev.larder.loader.opencl",
                        "dev.larder.launch.process",
                        "dev.larder.cluster",
                        "dev.larder.distributed",
                        "dev.larder.examples",
                        "dev.larder.examples.distributed")
                .doesNotContain("dev.larder.testing");
    }

    @Test
    void packagesFormNoCycle() {
        slices().matching("dev.larder.(**)").should().beFreeOfCycles().check(CLASSES);
    }

    /** What connects nodes is in a module of its own: only trainers that name it have its libraries. */
    @Test
    void nobodyUsesGloo() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage("org.bytedeco..", "dev.larder.gloo.."))
                .check(CLASSES);
        assertThat(CLASSES.stream().map(type -> type.getPackageName())).doesNotContain("dev.larder.gloo");
    }

    /** Spark is met in processes of its own; a test of its module looks from the other side. */
    @Test
    void nobodyUsesSpark() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage(
                        "org.apache.spark..", "org.apache.hadoop..", "scala..", "dev.larder.spark.."))
                .check(CLASSES);
        assertThat(CLASSES.stream().map(type -> type.getPackageName()))
                .noneMatch(name -> name.startsWith("dev.larder.spark"));
    }

    @Test
    void noPackageHasMoreClassesThanAReaderKeepsInMind() {
        Map<String, Long> sizes = CLASSES.stream()
                .filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()));
        assertThat(sizes).allSatisfy((name, size) -> assertThat(size).isLessThanOrEqualTo(MOST_CLASSES));
    }

    @Test
    void theClientNeedsOnlyItselfAndItsLibraries() {
        classes()
                .that(resideInAnyPackage(CLIENT))
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(CLIENT).or(resideInAnyPackage(CLIENT_LIBRARIES)))
                .check(CLASSES);
    }

    @Test
    void noSignatureOfWhatTrainersUseNamesWhatIsInternal() {
        classes()
                .that()
                .resideInAnyPackage(API)
                .and()
                .arePublic()
                .should(nameNoTypeOf("dev.larder.internal..", "dev.larder.distributed.internal.."))
                .check(CLASSES);
    }

    @Test
    void everyClassIsOfAModuleThatIsNamedHere() {
        classes()
                .should()
                .resideInAnyPackage(withClient(MODULES.keySet().stream()))
                .check(CLASSES);
    }

    @TestFactory
    Stream<DynamicTest> aModuleUsesTheClientAndTheModulesThatItIsBuiltOn() {
        return MODULES.entrySet().stream()
                .map(module -> DynamicTest.dynamicTest(
                        module.getKey(), () -> requireOnlyUses(module.getKey(), module.getValue())));
    }

    private static void requireOnlyUses(String module, List<String> others) {
        String[] allowed = withClient(Stream.concat(Stream.of(module), others.stream()));
        noClasses()
                .that()
                .resideInAPackage(module)
                .should()
                .dependOnClassesThat(resideInAPackage("dev.larder..").and(not(resideInAnyPackage(allowed))))
                .allowEmptyShould(module.equals("dev.larder.djl.."))
                .check(CLASSES);
    }

    private static String[] withClient(Stream<String> modules) {
        return Stream.concat(Stream.of(CLIENT), modules).toArray(String[]::new);
    }

    @TestFactory
    Stream<DynamicTest> aRoomBelowTheStoreUsesOnlyThoseBeforeItOfTheDaemon() {
        return IntStream.range(0, STORE_ROOMS.size())
                .mapToObj(last -> DynamicTest.dynamicTest(
                        STORE_ROOMS.get(last),
                        () -> classes()
                                .that()
                                .resideInAPackage(STORE_ROOMS.get(last))
                                .should()
                                .onlyDependOnClassesThat(not(resideInAPackage("dev.larder.server.."))
                                        .or(resideInAnyPackage(
                                                STORE_ROOMS.subList(0, last + 1).toArray(String[]::new))))
                                .check(CLASSES)));
    }

    @Test
    void everyRoomBelowTheStoreIsNamedHere() {
        classes()
                .that()
                .resideInAPackage("dev.larder.server.store.*..")
                .should()
                .resideInAnyPackage(STORE_ROOMS.toArray(String[]::new))
                .check(CLASSES);
    }

    @Test
    void eachNativeLibraryIsCalledInOnePackage() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "dev.larder.internal.posix",
                        "dev.larder.loader.internal.cuda",
                        "dev.larder.loader.cuda.device",
                        "dev.larder.loader.internal.image",
                        "dev.larder.loader.opencl")
                .should()
                .dependOnClassesThat(resideInAPackage("com.sun.jna.."))
                .check(CLASSES);
    }

    @Test
    void joclIsUsedInOnePackageAndByExamples() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.larder.loader.opencl", "dev.larder.examples..")
                .should()
                .dependOnClassesThat(resideInAPackage("org.jocl.."))
                .check(CLASSES);
    }

    @Test
    void theLoaderReachesBackendsByTheirBorderAlone() {
        for (String backend : List.of("dev.larder.loader.opencl..", "dev.larder.loader.cuda.device..")) {
            noClasses()
                    .that()
                    .resideInAnyPackage("dev.larder.loader..", "dev.larder.command..")
                    .and()
                    .resideOutsideOfPackage(backend)
                    .should()
                    .dependOnClassesThat(resideInAPackage(backend))
                    .check(CLASSES);
        }
    }

    @Test
    void ofTheCommandOnlyFeedsAndTheDemoRunALoader() {
        noClasses()
                .that()
                .resideInAPackage("dev.larder.command..")
                .and()
                .resideOutsideOfPackages("dev.larder.command.feed", "dev.larder.command.demo")
                .and()
                .doNotHaveFullyQualifiedName("dev.larder.command.Feed")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.larder.loader..")
                        .and(not(resideInAnyPackage("dev.larder.loader.device", "dev.larder.loader.internal.device"))))
                .check(CLASSES);
    }

    /** Packages of loader/core; other modules use its API, and backends the interfaces of devices. What orders are computed with lies below both. */
    @Test
    void whatMakesBatchesIsForTheLoaderAlone() {
        noClasses()
                .that()
                .resideOutsideOfPackages(
                        "dev.larder.loader",
                        "dev.larder.loader.sample",
                        "dev.larder.loader.internal..",
                        "dev.larder.loader.cuda.device")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.larder.loader.internal..")
                        .and(not(resideInAPackage("dev.larder.loader.internal.device"))))
                .check(CLASSES);
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.larder.loader..", "dev.larder.command", "dev.larder.bench..")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.larder.loader.internal.device.."))
                .check(CLASSES);
        noClasses()
                .that()
                .resideInAPackage("dev.larder.loader.cuda.device")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.larder.loader.internal..")
                        .and(not(resideInAnyPackage(
                                "dev.larder.loader.internal.cuda", "dev.larder.loader.internal.device"))))
                .check(CLASSES);
    }

    @Test
    void chronicleIsUsedInOnePackage() {
        requireOnlyIn("dev.larder.server.catalog..", "net.openhft..");
    }

    @Test
    void arrowAndFlatBuffersAreUsedInOnePackage() {
        requireOnlyIn("dev.larder.server.source.arrow", "org.apache.arrow..");
        requireOnlyIn("dev.larder.server.source.arrow", "com.google.flatbuffers..");
    }

    @Test
    void httpAndPrometheusAreUsedInOnePackage() {
        requireOnlyIn("dev.larder.server.http", "io.prometheus..");
    }

    @Test
    void messagesAreWrittenAndReadInOnePackage() {
        noClasses()
                .that()
                .resideInAnyPackage(
                        "dev.larder.client..", "dev.larder.internal..", "dev.larder.reader..", "dev.larder.cluster..")
                .should()
                .dependOnClassesThat(resideInAnyPackage("com.google.gson..", "dev.larder.message.gson.."))
                .check(CLASSES);
    }

    @Test
    void whatCommandsShareKnowsNoCommand() {
        noClasses()
                .that()
                .resideInAPackage("dev.larder.command.*..")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.larder.command"))
                .check(CLASSES);
    }

    @Test
    void onlyTheCommandKnowsPicocliAndProgressBars() {
        requireOnlyIn("dev.larder.command..", "picocli..");
        requireOnlyIn("dev.larder.command..", "me.tongfei..");
    }

    @Test
    void onlyTheCommandTheExamplesAndWarningsWithoutAnSlf4jProviderUseStandardStreams() {
        noClasses()
                .that()
                .resideOutsideOfPackages("dev.larder.command..", "dev.larder.examples..")
                .and()
                .doNotHaveFullyQualifiedName("dev.larder.internal.error.Logs$WarningsOnly")
                .should(ACCESS_STANDARD_STREAMS)
                .check(CLASSES);
    }

    @Test
    void namesSayWhatAClassIs() {
        noClasses()
                .should()
                .haveNameMatching(".*(Manager|Helper|Impl|Utils?)(\\$.*)?")
                .check(CLASSES);
    }

    private static void requireOnlyIn(String place, String library) {
        noClasses()
                .that()
                .resideOutsideOfPackage(place)
                .should()
                .dependOnClassesThat(resideInAPackage(library))
                .check(CLASSES);
    }
}
