package io.lendstream.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Test;

class StreamsPropertiesTest {
    @Test
    void anAdministratorGivesUpSoonAndNeverSoonerThanItsOwnRequests() {
        assertThat(admin(Map.of()).getInt(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG))
                .isEqualTo(15_000);
        assertThat(admin(Map.of("request.timeout.ms", "40000")).getInt(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG))
                .isEqualTo(40_000);
        assertThat(admin(Map.of("admin.request.timeout.ms", "20000"))
                        .getInt(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG))
                .isEqualTo(20_000);
    }

    @Test
    void anAdministratorsPatienceIsASitesToSay() {
        assertThat(admin(Map.of("default.api.timeout.ms", "70000"))
                        .getInt(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG))
                .isEqualTo(70_000);
        assertThat(admin(Map.of("metadata.max.age.ms", "60000")).getLong(AdminClientConfig.METADATA_MAX_AGE_CONFIG))
                .isEqualTo(60_000);
        assertThat(admin(Map.of("admin.default.api.timeout.ms", "30000", "admin.metadata.max.age.ms", "1000"))
                        .originals())
                .containsEntry("default.api.timeout.ms", "30000")
                .containsEntry("metadata.max.age.ms", "1000");
    }

    @Test
    void howAProducerSendsIsASitesToSayForItOrForAllClients() {
        assertThat(producer(Map.of())).containsEntry("batch.size", 131_072).containsEntry("retry.backoff.ms", 10);
        assertThat(producer(Map.of("retry.backoff.ms", "70"))).containsEntry("retry.backoff.ms", "70");
        assertThat(producer(Map.of("producer.batch.size", "9000", "producer.retry.backoff.ms", "7")))
                .containsEntry("batch.size", "9000")
                .containsEntry("retry.backoff.ms", "7");
    }

    @Test
    void theLogWaitsForASecondOnlyInTransactions() {
        assertThat(streams(Map.of()).getLong("commit.interval.ms")).isEqualTo(1_000);
        assertThat(producer(Map.of())).containsEntry("linger.ms", 1_000);
        Map<String, String> atLeastOnce = Map.of("processing.guarantee", "at_least_once");
        assertThat(streams(atLeastOnce).getLong("commit.interval.ms")).isEqualTo(200);
        assertThat(producer(atLeastOnce)).containsEntry("linger.ms", 10);
        assertThat(streams(Map.of("commit.interval.ms", "50")).getLong("commit.interval.ms"))
                .isEqualTo(50);
    }

    private static Map<String, Object> producer(Map<String, String> site) {
        return streams(site).getProducerConfigs("scheduler");
    }

    private static AdminClientConfig admin(Map<String, String> site) {
        return new AdminClientConfig(streams(site).getAdminConfigs("scheduler"));
    }

    private static StreamsConfig streams(Map<String, String> site) {
        Map<String, Object> given = new HashMap<>(site);
        given.put("bootstrap.servers", "localhost:9092");
        return new StreamsConfig(StreamsProperties.of("scheduler", given));
    }
}
