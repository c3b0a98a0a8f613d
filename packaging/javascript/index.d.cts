/** The server refused a request or did not start; the message has the reason. */
export class ControlError extends Error {}

export interface FixtureUser {
  email: string;
  full_name: string;
  role?: 'owner' | 'administrator' | 'moderator' | 'member' | 'guest';
  api_key?: string;
  password?: string;
  is_bot?: boolean;
  bot_owner?: string;
  deactivated?: boolean;
  /** As `PATCH /settings` takes them. */
  settings?: Record<string, unknown>;
}

/** Initial data of a server; docs/testing.md of the project lists all members. */
export interface Fixtures {
  users?: FixtureUser[];
  channels?: Array<{ name: string; private?: boolean; subscribers?: string[]; description?: string; [more: string]: unknown }>;
  messages?: Array<{ sender: string; content: string; channel?: string; topic?: string; to?: string[]; date?: string | number; [more: string]: unknown }>;
  clock?: string | number | { now: string | number; frozen?: boolean };
  [more: string]: unknown;
}

export interface RecordedRequest {
  id: number;
  /** By the clock of the server. */
  time: string;
  method: string;
  path: string;
  query: Record<string, string>;
  /** By their names in lower case, without secrets. */
  headers: Record<string, string>;
  form: Record<string, string>;
  /** The body, if it is JSON. */
  body: unknown;
  user: string | null;
  status: number | null;
  code: string | null;
  ignored: string[];
}

export interface RequestFilter {
  method?: string;
  path?: string;
  user?: string;
  pending?: boolean;
  /** Resolves once this number of requests match. */
  wait?: number;
  /** Timeout in seconds. */
  timeout?: number;
}

export interface Fault {
  method?: string;
  path?: string;
  user?: string;
  skip?: number;
  times?: number | null;
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  delay?: number;
  drop?: 'request' | 'answer' | 'half';
  bytes_per_second?: number;
}

export interface ClockState {
  now: string;
  timestamp: number;
  frozen: boolean;
}

/** The default users and channels of a server. */
export function sampleFixtures(binary?: string): Promise<Fixtures>;

/** A server on a free port of this machine. */
export class TestServer {
  static start(fixtures?: Fixtures | string, options?: { binary?: string; flags?: string[] }): Promise<TestServer>;
  readonly url: string;
  readonly testControlUrl: string;
  readonly fixtures: Fixtures;
  stop(): Promise<void>;
  user(email: string): FixtureUser;
  control(method: string, path: string, body?: unknown): Promise<any>;
  requests(filter?: RequestFilter): Promise<RecordedRequest[]>;
  clearRequests(): Promise<void>;
  clock(): Promise<ClockState>;
  setClock(change: { now?: string | number; advance?: number; frozen?: boolean }): Promise<ClockState>;
  fault(fault: Fault): Promise<void>;
  /** The faults that are left, and the number of requests that each has affected. */
  faults(): Promise<Array<Fault & { fired: number }>>;
  clearFaults(): Promise<void>;
  expireQueues(user?: string): Promise<number>;
  setLevel(featureLevel: number, version?: string): Promise<void>;
  /** Makes the present data, and a clock that was set, what `reset` restores. */
  snapshot(): Promise<void>;
  reset(): Promise<void>;
  restart(how?: { abrupt?: boolean; down?: number }): Promise<void>;
  act(user: string, what: Record<string, unknown>): Promise<any>;
}
