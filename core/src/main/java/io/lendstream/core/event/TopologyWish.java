package io.lendstream.core.event;

/**
 * The wish of a job that its GPUs are in one domain of the topology.
 *
 * @param required whether it never has GPUs of several domains; otherwise it has, where no domain has enough
 */
public record TopologyWish(TopologyLevel level, boolean required) {}
