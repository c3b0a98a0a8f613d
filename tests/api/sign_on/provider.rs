//! A provider of OpenID Connect for tests: discovery, keys, the token endpoint and userinfo. It answers as it should, unless a test
//! changes its [`Answers`].

use crate::harness::{Received, START};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::Url;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::thread;
use teamchat::oidc::Provider;

/// A private key for tests, in PKCS #8.
const RSA_KEY: &str = "\
    MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCvqZ5VZ43ta1cUlp4Kj5BWDPXl9PY5GwUh3AihLWvbJ6OH/eG0\
    JL6R5V7kkineornmREEb+RZKc/bfGJs3OSAXyjFKVqaqT9Q8xeUack1mPM/lFEblcjGRYq/ERBodjCOWCWXkvOlryerg8wlgdo81\
    Uak/pV7jwV8wF+4ipUROKrSakO4VNVFbG1Iu29PkU0ClmTnFUyxiXDqIhjSvcN4uXLivpBcxqavlW4htjw5HLwfvMYvlO/cOXY4p\
    0eGWctZ/OgSJgyFLVHYFGb7D6+XAW3jCTV/NRfnINsdzx7yYdUUSSehAi73Ydv6b4dhWVVCsIfa3wIPa5IhMGMw4w+h7AgMBAAEC\
    ggEABzOJbnZIO7wp5D0U4PL0vfDAre4zOX3kyBGr3hh6GPbQve6Uotyn98KZXf53lMB2clZ7yTuwN1opfAjkTnwn8PTuVpFWoMz7\
    Mu8CW7ZLrprLA3J0dTIpKEAm9Rrwa4pHG5hqb6YM90j37F2Ar2f83ZJpwVaBHUFcRFQrnfD8UixdoRPLjpsGVpy4SXqzX+3ZHYgH\
    rmyq3soDmagH2+khYGtHsc5M8+8x9fSYAmSUwYqNhudbOLO3SFMLCnjzQ4lwlr20jdslfwL7skCkB1nXFX9IMBk6zwMlZEwXRwub\
    mmTBI+BaRoShDdEtawp8pMrlTAMKg090OLKI3XJL25s9YQKBgQDWYooqDumwkWGSrsXl/DsLQpaf+xmQs4kysqgKmyRWoATBDaci\
    dxOgH9cS/rzjCyd5J6wNISAVCNOacLbvCm+9I1egeLR+97SJ3zxi39NKVUS5lSw4TdI4VV+y1/RdujrtWdy+9tWYQslR9BiE0tjV\
    UnNDm4RmQs+4fWATTErtGwKBgQDRwtf36CFTxpqve69IuBkGFIK/SeHSxVT67V8Z+OpP0dGHkgTZdIdTNfdzdjdHoIZf3ZdDZgCw\
    tU6hpM+B7Bioz6LYqLf65bTzbwoWTkY078Z7FoukqL49KVR+9iC8mVdrkK8fH7gmg5mart2VySUPQlzeAwkKTbw4WHfS6r+IIQKB\
    gQDLuIX8o4E0FWK4JbbO7poZACTsT4uissjsUVNYCMdGPfdmkJfDK46NudQCK+nIgv/2pFldfJ3k/yc9emCL1MoL3HrXdfxnLvHz\
    lhvnBTTeTRrqk7OaqXDbsV0oMQj4zBBVHfCj0yFz9/shEqj+BvKf/CKmGzF8j36enR1gGT6WAwKBgE3qqn6T441TALKepwXEHMd9\
    ZvPXZeL9Ggv7kI/9PkxYDBTn0JVWC86FBV4GU5Jvtnp1vXJzuV3qe0LgDZSdNqu+NSd1xKGWIhkq7fxLJxkS2A9w2H5ZkBD4AUMH\
    +jEUZLy4CdTt22GzEKO8wOKazQFWDVkKl5kUNw5XDmtyd6MBAoGBAMEemGDvcAje5oC/iv0ziBSugG7qDzahM8ybO/cz8kOL0b4E\
    125Kb5dlka+j7KBD9ZiQEuMAQRHlm5coG5EE2piTVjypuSHR4sQzj6LMCyPtGvQupMu2kcVLBQFGVh5dQrXM3RsbDOR4fpTcphwd\
    0SybUB7jS8qPp3vH1/kQd9tE";

pub const CLIENT_ID: &str = "team chat";
pub const CLIENT_SECRET: &str = "s3cret: +%";

static RSA: LazyLock<RsaKeyPair> =
    LazyLock::new(|| RsaKeyPair::from_pkcs8(&STANDARD.decode(RSA_KEY).unwrap()).unwrap());

/// The signature of tokens.
#[derive(Clone, Copy, PartialEq)]
pub enum Signer {
    Rs256,
    Es256,
    /// `alg` is `none`, and there is no signature.
    None,
    /// HS256 with the public key as the shared secret.
    Hs256,
    /// RS256, with one bit of the signature changed.
    Wrong,
}

/// The form of the answer to requests for a path.
#[derive(Clone, Copy)]
pub enum Form {
    /// A redirect to the same path with a slash.
    Redirect,
    /// An error of the provider.
    Failure,
    /// A body that is longer than anything a provider has to say.
    Huge,
    /// Nothing, and the connection stays open.
    Silence,
}

/// The answers of the provider.
pub struct Answers {
    pub signer: Signer,
    /// The time, in UNIX seconds.
    pub now: i64,
    /// The person who logs in at the provider.
    pub subject: String,
    /// The claims about the person in tokens.
    pub profile: Value,
    /// The answer of userinfo besides the subject; `None` if there is no such endpoint.
    pub userinfo: Option<Value>,
    /// Members of the head of tokens; null removes one.
    pub head: Value,
    /// Claims of tokens; null removes one.
    pub claims: Value,
    /// Members of the metadata; null removes one.
    pub metadata: Value,
    /// The `kid` of the keys.
    pub kid: &'static str,
    /// Answers of other forms, by path.
    pub forms: HashMap<&'static str, Form>,
    /// The requests: path, `Authorization` and body.
    pub requests: Vec<(String, String, String)>,
    /// The codes that were issued and not used: nonce and challenge.
    codes: HashMap<String, (String, String)>,
    last_code: usize,
}

pub struct TestProvider {
    pub issuer: String,
    answers: Arc<Mutex<Answers>>,
}

impl TestProvider {
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let issuer = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let answers = Answers {
            signer: Signer::Rs256,
            now: START,
            subject: "subject-1".to_owned(),
            profile: json!({"email": "ada@example.com", "email_verified": true, "name": "Ada Lovelace"}),
            userinfo: None,
            head: json!({}),
            claims: json!({}),
            metadata: json!({}),
            kid: "first",
            forms: HashMap::new(),
            requests: Vec::new(),
            codes: HashMap::new(),
            last_code: 0,
        };
        let answers = Arc::new(Mutex::new(answers));
        let server = Arc::new(Served {
            issuer: issuer.clone(),
            answers: Arc::clone(&answers),
            es256: new_ecdsa_key(),
        });
        thread::spawn(move || {
            for stream in listener.incoming() {
                let server = Arc::clone(&server);
                thread::spawn(move || drop(server.serve(stream.unwrap())));
            }
        });
        Self { issuer, answers }
    }

    /// The provider in the configuration of a server, as `test`.
    pub fn configured(&self, auto_create: bool) -> Provider {
        Provider {
            id: "test".to_owned(),
            name: "Test provider".to_owned(),
            issuer: self.issuer.clone(),
            client_id: CLIENT_ID.to_owned(),
            client_secret: CLIENT_SECRET.to_owned(),
            auto_create,
        }
    }

    /// The answers, to be looked at or changed.
    pub fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap()
    }

    /// Number of requests for a path.
    pub fn count(&self, path: &str) -> usize {
        self.answers().requests.iter().filter(|(asked, ..)| asked == path).count()
    }

    /// The person logs in at the page to which the server has sent the browser. Returns the path to which the provider sends the
    /// browser back.
    pub fn authorize(&self, location: &str) -> String {
        let url = Url::parse(location).unwrap();
        let parameters: HashMap<String, String> = url.query_pairs().into_owned().collect();
        let expected = [
            ("response_type", "code"),
            ("client_id", CLIENT_ID),
            ("scope", "openid profile email"),
            ("code_challenge_method", "S256"),
        ];
        for (name, value) in expected {
            assert_eq!(parameters[name], value, "{location}");
        }
        assert!(location.starts_with(&format!("{}/authorize?", self.issuer)), "{location}");
        let mut answers = self.answers();
        answers.last_code += 1;
        let code = format!("code-{}", answers.last_code);
        let issued = (parameters["nonce"].clone(), parameters["code_challenge"].clone());
        answers.codes.insert(code.clone(), issued);
        let mut back = Url::parse(&parameters["redirect_uri"]).unwrap();
        back.query_pairs_mut().append_pair("code", &code).append_pair("state", &parameters["state"]);
        format!("{}?{}", back.path(), back.query().unwrap())
    }
}

fn new_ecdsa_key() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap()
}

fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Replaces members; null removes one.
fn merge(into: &mut Value, changes: &Value) {
    let members = into.as_object_mut().unwrap();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
}

/// The state that the threads of the provider share.
struct Served {
    issuer: String,
    answers: Arc<Mutex<Answers>>,
    es256: EcdsaKeyPair,
}

impl Served {
    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(stream);
        let Some(received) = Received::read(&mut reader)? else { return Ok(()) };
        let authorization = received.header("authorization").to_owned();
        let (path, body) = (received.path, String::from_utf8(received.body).unwrap());
        let mut stream = reader.into_inner();
        let (form, answer) = {
            let mut answers = self.answers.lock().unwrap();
            answers.requests.push((path.clone(), authorization.clone(), body.clone()));
            let form = answers.forms.get(path.as_str()).copied();
            let answer =
                if form.is_some() { None } else { self.answer(&mut answers, &path, &authorization, &body) };
            (form, answer)
        };
        match (form, answer) {
            (Some(Form::Redirect), _) => {
                write!(stream, "HTTP/1.1 302 X\r\nLocation: {path}/\r\nContent-Length: 0\r\n\r\n")
            }
            (Some(Form::Failure), _) => write!(stream, "HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n"),
            (Some(Form::Huge), _) => {
                write!(stream, "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n")?;
                // Until the other side ends the connection.
                loop {
                    stream.write_all(b"10\r\n                \r\n")?;
                }
            }
            (Some(Form::Silence), _) => stream.read_to_end(&mut Vec::new()).map(|_| ()),
            (None, Some(answer)) => {
                let body = answer.to_string();
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
                )
            }
            (None, None) => write!(stream, "HTTP/1.1 400 X\r\nContent-Length: 2\r\n\r\n{{}}"),
        }
    }

    /// The answer to a request; `None` for an error.
    fn answer(&self, answers: &mut Answers, path: &str, authorization: &str, body: &str) -> Option<Value> {
        let at = |path: &str| format!("{}{path}", self.issuer);
        match path {
            "/.well-known/openid-configuration" => {
                let mut metadata = json!({
                    "issuer": self.issuer,
                    "authorization_endpoint": at("/authorize"),
                    "token_endpoint": at("/token"),
                    "jwks_uri": at("/keys"),
                    "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
                });
                if answers.userinfo.is_some() {
                    metadata["userinfo_endpoint"] = at("/userinfo").into();
                }
                merge(&mut metadata, &answers.metadata);
                Some(metadata)
            }
            "/keys" => Some(self.keys(answers)),
            "/token" => self.token(answers, authorization, body),
            "/userinfo" if authorization == "Bearer access-token" => {
                let mut info = json!({"sub": answers.subject});
                merge(&mut info, answers.userinfo.as_ref()?);
                Some(info)
            }
            _ => None,
        }
    }

    fn keys(&self, answers: &Answers) -> Value {
        let rsa = RsaPublicKeyComponents::<Vec<u8>>::from(RSA.public_key());
        let point = self.es256.public_key().as_ref();
        json!({"keys": [
            {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"},
            {"kty": "RSA", "use": "enc", "kid": answers.kid, "n": base64url(&rsa.n), "e": base64url(&rsa.e)},
            {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": answers.kid, "n": base64url(&rsa.n), "e": base64url(&rsa.e)},
            {"kty": "EC", "crv": "P-256", "kid": answers.kid, "x": base64url(&point[1..33]), "y": base64url(&point[33..])},
        ]})
    }

    /// Exchanges a code, once, for the client that knows the secret and the verifier.
    fn token(&self, answers: &mut Answers, authorization: &str, body: &str) -> Option<Value> {
        let form: HashMap<String, String> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let pair = format!("{}:{}", encoded(CLIENT_ID), encoded(CLIENT_SECRET));
        let by_header = authorization == format!("Basic {}", STANDARD.encode(pair));
        let of_form = |name: &str| form.get(name).map(String::as_str);
        let by_form =
            (of_form("client_id"), of_form("client_secret")) == (Some(CLIENT_ID), Some(CLIENT_SECRET));
        assert!(by_header != by_form, "one way to authenticate: {authorization} {body}");
        assert_eq!(form["grant_type"], "authorization_code");
        assert!(form["redirect_uri"].ends_with("/complete/test/"), "{body}");
        let (nonce, challenge) = answers.codes.remove(&form["code"])?;
        if base64url(Sha256::digest(form["code_verifier"].as_bytes())) != challenge {
            return None;
        }
        let mut claims = json!({
            "iss": self.issuer, "sub": answers.subject, "aud": CLIENT_ID, "nonce": nonce,
            "iat": answers.now, "exp": answers.now + 300,
            "at_hash": base64url(&Sha256::digest(b"access-token")[..16]),
        });
        merge(&mut claims, &answers.profile);
        merge(&mut claims, &answers.claims);
        let id_token = self.sign(answers, &claims);
        Some(json!({"access_token": "access-token", "token_type": "Bearer", "id_token": id_token}))
    }

    fn sign(&self, answers: &Answers, claims: &Value) -> String {
        let name = match answers.signer {
            Signer::Rs256 | Signer::Wrong => "RS256",
            Signer::Es256 => "ES256",
            Signer::None => "none",
            Signer::Hs256 => "HS256",
        };
        let mut head = Value::Object(Map::new());
        merge(&mut head, &json!({"alg": name, "kid": answers.kid}));
        merge(&mut head, &answers.head);
        let message = format!("{}.{}", base64url(head.to_string()), base64url(claims.to_string()));
        let random = SystemRandom::new();
        let signature = match answers.signer {
            Signer::Rs256 | Signer::Wrong => {
                let mut signature = vec![0; RSA.public().modulus_len()];
                RSA.sign(&RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signature).unwrap();
                if answers.signer == Signer::Wrong {
                    signature[100] ^= 1;
                }
                signature
            }
            Signer::Es256 => self.es256.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec(),
            Signer::None => Vec::new(),
            Signer::Hs256 => {
                let rsa = RsaPublicKeyComponents::<Vec<u8>>::from(RSA.public_key());
                let key = hmac::Key::new(hmac::HMAC_SHA256, base64url(&rsa.n).as_bytes());
                hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
            }
        };
        format!("{message}.{}", base64url(signature))
    }
}
