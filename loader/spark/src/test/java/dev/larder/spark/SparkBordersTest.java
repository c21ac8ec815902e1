package dev.larder.spark;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Holds the borders of the adapter: it is the only user of Spark, and what runs in executors has no daemon and no command. */
@Tag("slow")
class SparkBordersTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(location -> !location.contains("-tests.jar"))
            .importPackages("dev.larder");

    @Test
    void onlyTheAdapterUsesSpark() {
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.larder.spark..")
                .should()
                .dependOnClassesThat(resideInAnyPackage(
                        "org.apache.spark..", "scala..", "org.apache.hadoop..", "dev.larder.spark.."))
                .check(CLASSES);
    }

    @Test
    void theAdapterStartsLaunchersAndKnowsNoDaemonNoCommandAndNoLoader() {
        noClasses()
                .that()
                .resideInAPackage("dev.larder.spark..")
                .should()
                .dependOnClassesThat(resideInAPackage("dev.larder..")
                        .and(not(resideInAnyPackage(
                                "dev.larder.spark..",
                                "dev.larder.launch.process",
                                "dev.larder.launch.internal",
                                "dev.larder.distributed.internal.meeting",
                                "dev.larder.internal..",
                                "dev.larder.error"))))
                .check(CLASSES);
        assertThat(CLASSES.stream().map(type -> type.getPackageName()))
                .contains("dev.larder.spark.launch")
                .doesNotContain("dev.larder.server", "dev.larder.command", "dev.larder.loader", "dev.larder.cluster");
    }
}
