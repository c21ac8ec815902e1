package dev.larder.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Compares the manifests for Kubernetes with its own schema, and with what a shared store needs. */
class KubernetesManifestsTest {
    static final Path FOLDER = Path.of("../../ops/kubernetes").toAbsolutePath().normalize();

    @TempDir
    Path folder;

    /** Reads a file of YAML documents. */
    static List<JsonObject> documents(Path file) throws IOException {
        Gson gson = new Gson();
        Iterable<Object> documents = new Yaml(new SafeConstructor(new LoaderOptions())).loadAll(Files.readString(file));
        return StreamSupport.stream(documents.spliterator(), false)
                .map(document -> gson.toJsonTree(document).getAsJsonObject())
                .toList();
    }

    /** Returns what a folder comes to, by kubectl where there is one. */
    private List<JsonObject> built(String kustomization) throws IOException, InterruptedException {
        Path file = folder.resolve("built.yaml");
        try {
            Process kubectl = new ProcessBuilder(
                            "kubectl",
                            "kustomize",
                            FOLDER.resolve(kustomization).toString())
                    .redirectOutput(file.toFile())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            assertThat(kubectl.waitFor(1, TimeUnit.MINUTES)).isTrue();
            assertThat(kubectl.exitValue()).isZero();
        } catch (IOException e) {
            assumeTrue(false, "needs kubectl");
        }
        return documents(file);
    }

    private static JsonObject at(JsonObject object, String path) {
        JsonObject found = object;
        for (String key : path.split("/", -1)) {
            found = found.getAsJsonObject(key);
        }
        return found;
    }

    private static Stream<JsonObject> each(JsonObject object, String key) {
        JsonArray array = object.getAsJsonArray(key);
        return array == null
                ? Stream.empty()
                : StreamSupport.stream(array.spliterator(), false).map(JsonElement::getAsJsonObject);
    }

    private static JsonObject kind(List<JsonObject> documents, String kind) {
        return documents.stream()
                .filter(document -> document.get("kind").getAsString().equals(kind))
                .findFirst()
                .orElseThrow();
    }

    /**
     * Fails for a key that Kubernetes does not know, or one that it needs and does not find. By name: the annotations of these
     * models are not on the class path, which the compiler would warn of.
     */
    private static void validate(JsonObject document) throws ReflectiveOperationException {
        String model =
                "io.kubernetes.client.openapi.models.V1" + document.get("kind").getAsString();
        Class.forName(model).getMethod("validateJsonElement", JsonElement.class).invoke(null, document);
    }

    @Test
    void aKeyThatKubernetesDoesNotKnowIsFound() throws Exception {
        JsonObject daemons = documents(FOLDER.resolve("base/daemonset.yaml")).get(0);
        each(at(daemons, "spec/template/spec"), "containers")
                .findFirst()
                .orElseThrow()
                .addProperty("volumeMount", "x");

        assertThatThrownBy(() -> validate(daemons)).rootCause().hasMessageContaining("`volumeMount`");
    }

    @Test
    void everyManifestIsOneForKubernetes() throws Exception {
        try (Stream<Path> files = Files.walk(FOLDER)) {
            List<Path> manifests = files.filter(file -> file.toString().endsWith(".yaml"))
                    .filter(file -> !file.endsWith("kustomization.yaml"))
                    .toList();

            assertThat(manifests).hasSizeGreaterThan(5);
            for (Path manifest : manifests) {
                for (JsonObject document : documents(manifest)) {
                    validate(document);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"base", "overlays/gpu-nodes", "overlays/one-namespace", "train"})
    void whatKustomizeMakesOfAFolderIsForKubernetesAndRunsAnImageWithATag(String kustomization) throws Exception {
        for (JsonObject document : built(kustomization)) {
            validate(document);
            if (document.has("spec") && at(document, "spec").has("template")) {
                assertThat(each(at(document, "spec/template/spec"), "containers"))
                        .allSatisfy(container ->
                                assertThat(container.get("image").getAsString()).isEqualTo("larder:latest"));
            }
        }
    }

    @Test
    void everyPodSeesWhatIsMountedOnItsNodeLaterAsTheUserOfTheStore() throws Exception {
        for (String file : List.of("base/daemonset.yaml", "consumer.yaml", "train/job.yaml")) {
            JsonObject pod = at(documents(FOLDER.resolve(file)).get(0), "spec/template/spec");

            assertThat(at(pod, "securityContext").get("runAsUser").getAsInt()).isEqualTo(1000);
            JsonObject container = each(pod, "containers").findFirst().orElseThrow();
            assertThat(each(container, "volumeMounts")
                            .filter(mount ->
                                    mount.get("mountPath").getAsString().equals("/run/larder")))
                    .singleElement()
                    .satisfies(mount -> assertThat(mount.get("mountPropagation").getAsString())
                            .isEqualTo("HostToContainer"));
            assertThat(each(container, "env").map(Object::toString))
                    .contains("{\"name\":\"LARDER_STORE\",\"value\":\"/run/larder/shm/store\"}");
        }
    }

    @Test
    void theDaemonsLimitHasRoomForTheTmpfsAndItsHeap() throws Exception {
        JsonObject pod = at(documents(FOLDER.resolve("base/daemonset.yaml")).get(0), "spec/template/spec");
        JsonObject mounting = each(pod, "initContainers").findFirst().orElseThrow();
        JsonObject daemon = each(pod, "containers").findFirst().orElseThrow();

        int limit = gibibytes(at(daemon, "resources/limits").get("memory").getAsString());
        int size = gibibytes(value(mounting, "SIZE"));
        int heap = gibibytes(value(daemon, "LARDER_DAEMON_HEAP"));

        assertThat(size).isPositive();
        assertThat(limit).isGreaterThanOrEqualTo(size + heap + 1);
    }

    private static int gibibytes(String text) {
        return Integer.parseInt(text.replaceFirst("Gi$|g$", ""));
    }

    private static String value(JsonObject container, String name) {
        return each(container, "env")
                .filter(variable -> variable.get("name").getAsString().equals(name))
                .map(variable -> variable.get("value").getAsString())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void inOneNamespaceNothingIsPrivilegedOrNamesAPathOfTheNode() throws Exception {
        List<JsonObject> documents = built("overlays/one-namespace");
        JsonObject pod = at(kind(documents, "DaemonSet"), "spec/template/spec");

        assertThat(pod.has("initContainers")).isFalse();
        assertThat(pod.toString()).doesNotContain("hostPath", "privileged");
        assertThat(at(pod, "securityContext/seccompProfile").get("type").getAsString())
                .isEqualTo("RuntimeDefault");
        assertThat(each(pod, "containers").map(container -> container.getAsJsonObject("securityContext")))
                .allSatisfy(context -> {
                    assertThat(context.get("runAsNonRoot").getAsBoolean()).isTrue();
                    assertThat(context.get("allowPrivilegeEscalation").getAsBoolean())
                            .isFalse();
                    assertThat(at(context, "capabilities").getAsJsonArray("drop"))
                            .hasToString("[\"ALL\"]");
                });
        assertThat(documents.stream()
                        .filter(document -> at(document, "metadata").has("namespace")))
                .allSatisfy(document -> assertThat(
                                at(document, "metadata").get("namespace").getAsString())
                        .isEqualTo("team"));
    }

    @Test
    void onNodesWithGpusTheDaemonToleratesTheirTaint() throws Exception {
        JsonObject pod = at(kind(built("overlays/gpu-nodes"), "DaemonSet"), "spec/template/spec");

        assertThat(pod.getAsJsonObject("nodeSelector")).hasToString("{\"nvidia.com/gpu.present\":\"true\"}");
        assertThat(each(pod, "tolerations").findFirst().orElseThrow().toString())
                .contains("nvidia.com/gpu");
        assertThat(each(pod, "initContainers")).hasSize(1);
    }

    @Test
    void theServiceOfAJobLeadsToItsPodsBeforeTheyAreReady() throws Exception {
        JsonObject service = documents(FOLDER.resolve("train/service.yaml")).get(0);
        JsonObject job = documents(FOLDER.resolve("train/job.yaml")).get(0);
        String name = at(job, "metadata").get("name").getAsString();

        assertThat(at(service, "spec/selector").get("job-name").getAsString()).isEqualTo(name);
        assertThat(at(service, "spec").get("publishNotReadyAddresses").getAsBoolean())
                .isTrue();
        assertThat(at(job, "spec/template/spec").get("subdomain").getAsString())
                .isEqualTo(at(service, "metadata").get("name").getAsString());
        assertThat(at(job, "spec").get("completions")).isEqualTo(at(job, "spec").get("parallelism"));
    }
}
