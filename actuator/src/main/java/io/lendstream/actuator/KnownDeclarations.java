package io.lendstream.actuator;

/**
 * What an actuator makes of declarations.
 *
 * @param inventory nodes, services and jobs by name
 * @param description its own description, which depends on the nodes
 * @param found what runs already, by the selectors of jobs and services
 */
record KnownDeclarations(Inventory inventory, SelfDescription description, FoundTenants found) {}
