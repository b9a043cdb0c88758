/**
 * Setup of a cluster for Lendstream: topics and schemas.
 * Existing topics and schemas are compared with the required ones, and never changed or deleted.
 */
@NullMarked
package io.lendstream.launcher.cluster;

import org.jspecify.annotations.NullMarked;
