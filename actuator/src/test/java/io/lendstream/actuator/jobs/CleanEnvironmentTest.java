package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CleanEnvironmentTest {
    @Test
    void whatTrainingNeedsPassesAndNothingElse() {
        List<String> needed = List.of(
                "PATH",
                "HOME",
                "USER",
                "LANG",
                "LC_ALL",
                "TZ",
                "TMPDIR",
                "LD_LIBRARY_PATH",
                "PYTHONPATH",
                "VIRTUAL_ENV",
                "CUDA_HOME",
                "NVIDIA_VISIBLE_DEVICES",
                "NCCL_SOCKET_IFNAME",
                "GLOO_SOCKET_IFNAME",
                "OMP_NUM_THREADS");
        List<String> other = List.of(
                "LENDSTREAM_KAFKA_SASL_JAAS_CONFIG",
                "LENDSTREAM_CONFIG",
                "lendstream_secret",
                "AWS_SECRET_ACCESS_KEY",
                "DATABASE_URL",
                "JAVA_TOOL_OPTIONS",
                "KUBECONFIG",
                "https_proxy",
                "CREDENTIALS_DIRECTORY",
                "NVIDIA_API_KEY",
                "TORCH_HUB_TOKEN",
                "RANK",
                "MASTER_ADDR");

        assertThat(names(
                        List.of(),
                        Stream.of(needed, other).flatMap(List::stream).toList()))
                .containsExactlyInAnyOrderElementsOf(needed);
    }

    @Test
    void whatTheSiteNamesPassesToo() {
        assertThat(names(
                        List.of("KUBECONFIG", "HF_*", "HF_TOKEN"),
                        List.of("KUBECONFIG", "KUBECONFIG_OTHER", "HF_HOME", "HF_TOKEN", "HF_SECRET")))
                .containsExactly("HF_HOME", "HF_TOKEN", "KUBECONFIG");
    }

    @Test
    void theActuatorsOwnSettingsPassUnderNoName() {
        assertThat(names(List.of("L*", "LEND*"), List.of("LENDSTREAM_KAFKA_SASL_JAAS_CONFIG", "LESS")))
                .containsExactly("LESS");
        assertThatThrownBy(() -> CleanEnvironment.of(Map.of(), List.of("LENDSTREAM_KAFKA_SASL_JAAS_CONFIG")))
                .hasMessageContaining("is a setting of the actuator");
    }

    @Test
    void whatIsNoNameIsRefused() {
        for (String wrong : List.of("", "*", "A=B", "A B", "*A", "A**", "1A")) {
            assertThat(CleanEnvironment.complaint(List.of(wrong))).as(wrong).isPresent();
        }
        assertThat(CleanEnvironment.complaint(List.of("A", "_b9", "C*"))).isEmpty();
    }

    private static List<String> names(List<String> named, List<String> all) {
        Map<String, String> environment = all.stream().collect(Collectors.toMap(name -> name, name -> "x"));
        return List.copyOf(CleanEnvironment.of(environment, named).variables().keySet());
    }
}
