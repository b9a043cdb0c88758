package io.lendstream.launcher.cluster;

import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.topics.SchemaSet;
import io.lendstream.schemas.topics.TopicAdmin;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.kafka.KafkaSettings;
import org.apache.kafka.clients.admin.Admin;

/** Prepares a cluster of one broker for the services: topics, and their schemas in the registry. */
public final class Preparation {
    private Preparation() {}

    /** Creates missing topics and registers missing schemas. */
    public static void of(KafkaSettings kafka, TopicCatalogue catalogue) {
        try (Admin admin = Admin.create(kafka.admin())) {
            new TopicAdmin(admin, catalogue).create(1, (short) 1);
        }
        new SchemaSet(new RegistryClient(RegistrySettings.from(kafka.serdes())), catalogue).register();
    }
}
