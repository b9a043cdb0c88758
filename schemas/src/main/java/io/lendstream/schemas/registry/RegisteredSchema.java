package io.lendstream.schemas.registry;

import org.apache.avro.Schema;

/**
 * A version of a subject in the registry.
 *
 * @param id the number in front of each record written with it; the same for equal schemas of other subjects
 */
public record RegisteredSchema(String subject, int version, int id, Schema schema) {}
