/** The messages that @eventstore/db-client ships, by their default exports: Node does not see the names in them. */
import { createRequire } from 'node:module';
import type * as gossipTypes from '@eventstore/db-client/generated/gossip_pb.js';
import type * as projectionTypes from '@eventstore/db-client/generated/projections_pb.js';
import type * as featureTypes from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type * as sharedTypes from '@eventstore/db-client/generated/shared_pb.js';
import type * as statusTypes from '@eventstore/db-client/generated/status_pb.js';
import type * as streamTypes from '@eventstore/db-client/generated/streams_pb.js';
